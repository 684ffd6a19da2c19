; 89036cdf155ec12e9dda3f0701aa18b770e93d84884c2bc449d313edbf0d3f15 is the sha256 of the sources; tools/library_runtime.py writes this file
; ModuleID = 'runtime.c'
source_filename = "runtime.c"
target datalayout = "e-m:e-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128"
target triple = "aarch64-unknown-linux-gnu"

%struct.plan = type { i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32 }
%struct.plan_code = type { i32, i32, i32, i32, i32, i32, i32, i32, i64, i64, i64, i32, i32 }
%struct.pool = type { i64, i32, i32, i32, i32, i32, i32, ptr, ptr, [0 x i64] }
%struct.model_threads = type { i32, ptr, ptr }
%struct.context = type { ptr, ptr, ptr, ptr, i64, ptr }
%struct.block = type { ptr, ptr }
%struct.loop = type { ptr, ptr, ptr, %struct.group, i32 }
%struct.group = type { ptr, i32 }
%struct.model_description = type { ptr, ptr, ptr, ptr, ptr, i32, i32, i32, i32 }
%struct.plan_tensor = type { i32, i32, i32, i32, i32, i32, double, i64, [8 x i64] }
%struct.model_tensor = type { ptr, ptr, i32, i32, [8 x i64], i64, double, i64 }
%struct.run = type { ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr }
%struct.model_buffer = type { ptr, i64 }
%struct.argument = type { i32, i32, %union.anon }
%union.anon = type { ptr }
%struct.tensor = type { ptr, i32, i32, i32, i8, i8, i16, ptr, ptr, i64 }
%struct.plan_place = type { i32, i32, i8, i8, i16, i32, i64, i64 }
%struct.plan_golden = type { i32, i32, i32, i32, [2 x i64] }

@__TVMBackendAllocWorkspace = hidden local_unnamed_addr constant ptr @allocate, align 8
@__TVMBackendFreeWorkspace = hidden local_unnamed_addr constant ptr @release, align 8
@__TVMBackendParallelLaunch = hidden local_unnamed_addr constant ptr @launch, align 8
@__TVMFFIErrorSetRaisedFromCStr = hidden local_unnamed_addr constant ptr @set_error, align 8
@__TVMFFIErrorSetRaisedFromCStrParts = hidden local_unnamed_addr constant ptr @set_error_parts, align 8
@model_plan = external hidden constant %struct.plan, align 4
@.str = private unnamed_addr constant [9 x i8] c"no error\00", align 1
@.str.1 = private unnamed_addr constant [61 x i8] c"an argument, or the data of a tensor that has bytes, is null\00", align 1
@.str.2 = private unnamed_addr constant [61 x i8] c"an input or output has fewer bytes than its description says\00", align 1
@.str.3 = private unnamed_addr constant [78 x i8] c"data does not begin at a multiple of the alignment that its description names\00", align 1
@.str.4 = private unnamed_addr constant [87 x i8] c"a workspace or the memory of a pool is smaller than workspace_bytes or pool_bytes says\00", align 1
@.str.5 = private unnamed_addr constant [82 x i8] c"a dynamic dimension has a size that the model does not take, or sizes are missing\00", align 1
@.str.6 = private unnamed_addr constant [54 x i8] c"there is no input, output or dimension of this number\00", align 1
@.str.7 = private unnamed_addr constant [82 x i8] c"this processor lacks instructions that the code needs; export it for an older one\00", align 1
@.str.8 = private unnamed_addr constant [44 x i8] c"the function init was not called, or failed\00", align 1
@.str.9 = private unnamed_addr constant [86 x i8] c"the number of threads is 0, above 1 without a launch function, or above 256 of a pool\00", align 1
@.str.10 = private unnamed_addr constant [31 x i8] c"a computation refused its data\00", align 1
@.str.11 = private unnamed_addr constant [70 x i8] c"the library has no code of this name; its description lists the names\00", align 1
@.str.12 = private unnamed_addr constant [81 x i8] c"the program has no function pthread_create, or the system starts no more threads\00", align 1
@.str.13 = private unnamed_addr constant [85 x i8] c"a layer gives another result than the definition: report the processor and the layer\00", align 1
@.str.14 = private unnamed_addr constant [73 x i8] c"the library was made without values for a self-test; export it with them\00", align 1
@.str.15 = private unnamed_addr constant [41 x i8] c"a status that this library does not give\00", align 1
@chosen = internal unnamed_addr global i32 0, align 4
@current = internal thread_local global ptr null, align 8
@.str.16 = private unnamed_addr constant [8 x i8] c"float32\00", align 1
@.str.17 = private unnamed_addr constant [5 x i8] c"bool\00", align 1
@reltable.model_status_text = private unnamed_addr constant [15 x i32] [i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.14 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.13 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.12 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.11 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.10 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.9 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.8 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.7 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.6 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.5 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.4 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.3 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.2 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.1 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32)], align 4

; Function Attrs: nounwind
define i32 @model_init() local_unnamed_addr #0 {
  %1 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %2 = zext i32 %1 to i64
  %3 = getelementptr inbounds i8, ptr @model_plan, i64 %2
  %4 = load i32, ptr @model_plan, align 4
  %5 = icmp eq i32 %4, 1
  br i1 %5, label %6, label %52

6:                                                ; preds = %0
  %7 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 2), align 4
  %8 = icmp eq i32 %7, 0
  br i1 %8, label %52, label %9

9:                                                ; preds = %6
  %10 = zext i32 %7 to i64
  br label %11

11:                                               ; preds = %49, %9
  %12 = phi i64 [ 0, %9 ], [ %50, %49 ]
  %13 = getelementptr inbounds %struct.plan_code, ptr %3, i64 %12, i32 1
  %14 = load i32, ptr %13, align 4
  %15 = zext i32 %14 to i64
  %16 = getelementptr inbounds i8, ptr @model_plan, i64 %15
  %17 = load i32, ptr %16, align 4
  %18 = zext i32 %17 to i64
  %19 = getelementptr inbounds i32, ptr %16, i64 %18
  %20 = getelementptr inbounds i32, ptr %16, i64 1
  %21 = load i32, ptr %20, align 4
  %22 = icmp eq i32 %21, 0
  br i1 %22, label %23, label %49

23:                                               ; preds = %11
  %24 = icmp ult i32 %17, 3
  br i1 %24, label %46, label %25

25:                                               ; preds = %23
  %26 = getelementptr inbounds i32, ptr %16, i64 2
  br label %27

27:                                               ; preds = %27, %25
  %28 = phi ptr [ %26, %25 ], [ %42, %27 ]
  %29 = load i32, ptr %28, align 4
  %30 = zext i32 %29 to i64
  %31 = tail call i64 @getauxval(i64 noundef %30) #14
  %32 = getelementptr inbounds i32, ptr %28, i64 2
  %33 = load i32, ptr %32, align 4
  %34 = shl i32 %33, 5
  %35 = zext i32 %34 to i64
  %36 = lshr i64 %31, %35
  %37 = trunc i64 %36 to i32
  %38 = getelementptr inbounds i32, ptr %28, i64 3
  %39 = load i32, ptr %38, align 4
  %40 = and i32 %39, %37
  %41 = icmp eq i32 %40, %39
  %42 = getelementptr inbounds i32, ptr %28, i64 4
  %43 = icmp ult ptr %42, %19
  %44 = select i1 %41, i1 %43, i1 false
  br i1 %44, label %27, label %45, !llvm.loop !3

45:                                               ; preds = %27
  br i1 %41, label %46, label %49

46:                                               ; preds = %45, %23
  %47 = trunc i64 %12 to i32
  %48 = add i32 %47, 1
  store atomic i32 %48, ptr @chosen release, align 4
  br label %52

49:                                               ; preds = %45, %11
  %50 = add nuw nsw i64 %12, 1
  %51 = icmp eq i64 %50, %10
  br i1 %51, label %52, label %11, !llvm.loop !5

52:                                               ; preds = %49, %0, %6, %46
  %53 = phi i32 [ -7, %0 ], [ 0, %46 ], [ -7, %6 ], [ -7, %49 ]
  ret i32 %53
}

; Function Attrs: nounwind
define i32 @model_select_code(ptr noundef readonly %0) local_unnamed_addr #0 {
  %2 = icmp eq ptr %0, null
  br i1 %2, label %80, label %3

3:                                                ; preds = %1
  %4 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %5 = zext i32 %4 to i64
  %6 = getelementptr inbounds i8, ptr @model_plan, i64 %5
  %7 = load i32, ptr @model_plan, align 4
  %8 = icmp eq i32 %7, 1
  br i1 %8, label %9, label %80

9:                                                ; preds = %3
  %10 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 2), align 4
  %11 = icmp eq i32 %10, 0
  br i1 %11, label %80, label %12

12:                                               ; preds = %9
  %13 = zext i32 %10 to i64
  br label %14

14:                                               ; preds = %12, %76
  %15 = phi i64 [ 0, %12 ], [ %78, %76 ]
  %16 = phi i32 [ -11, %12 ], [ %77, %76 ]
  %17 = getelementptr inbounds %struct.plan_code, ptr %6, i64 %15
  %18 = load i32, ptr %17, align 8
  %19 = zext i32 %18 to i64
  %20 = getelementptr inbounds i8, ptr @model_plan, i64 %19
  %21 = load i8, ptr %0, align 1
  %22 = icmp eq i8 %21, 0
  br i1 %22, label %34, label %23

23:                                               ; preds = %14, %29
  %24 = phi i8 [ %32, %29 ], [ %21, %14 ]
  %25 = phi ptr [ %31, %29 ], [ %20, %14 ]
  %26 = phi ptr [ %30, %29 ], [ %0, %14 ]
  %27 = load i8, ptr %25, align 1
  %28 = icmp eq i8 %24, %27
  br i1 %28, label %29, label %34

29:                                               ; preds = %23
  %30 = getelementptr inbounds i8, ptr %26, i64 1
  %31 = getelementptr inbounds i8, ptr %25, i64 1
  %32 = load i8, ptr %30, align 1
  %33 = icmp eq i8 %32, 0
  br i1 %33, label %34, label %23, !llvm.loop !6

34:                                               ; preds = %29, %23, %14
  %35 = phi ptr [ %20, %14 ], [ %31, %29 ], [ %25, %23 ]
  %36 = phi i8 [ 0, %14 ], [ 0, %29 ], [ %24, %23 ]
  %37 = load i8, ptr %35, align 1
  %38 = icmp eq i8 %36, %37
  br i1 %38, label %39, label %76

39:                                               ; preds = %34
  %40 = getelementptr inbounds %struct.plan_code, ptr %6, i64 %15, i32 1
  %41 = load i32, ptr %40, align 4
  %42 = zext i32 %41 to i64
  %43 = getelementptr inbounds i8, ptr @model_plan, i64 %42
  %44 = load i32, ptr %43, align 4
  %45 = zext i32 %44 to i64
  %46 = getelementptr inbounds i32, ptr %43, i64 %45
  %47 = getelementptr inbounds i32, ptr %43, i64 1
  %48 = load i32, ptr %47, align 4
  %49 = icmp eq i32 %48, 0
  br i1 %49, label %50, label %76

50:                                               ; preds = %39
  %51 = icmp ult i32 %44, 3
  br i1 %51, label %73, label %52

52:                                               ; preds = %50
  %53 = getelementptr inbounds i32, ptr %43, i64 2
  br label %54

54:                                               ; preds = %54, %52
  %55 = phi ptr [ %53, %52 ], [ %69, %54 ]
  %56 = load i32, ptr %55, align 4
  %57 = zext i32 %56 to i64
  %58 = tail call i64 @getauxval(i64 noundef %57) #14
  %59 = getelementptr inbounds i32, ptr %55, i64 2
  %60 = load i32, ptr %59, align 4
  %61 = shl i32 %60, 5
  %62 = zext i32 %61 to i64
  %63 = lshr i64 %58, %62
  %64 = trunc i64 %63 to i32
  %65 = getelementptr inbounds i32, ptr %55, i64 3
  %66 = load i32, ptr %65, align 4
  %67 = and i32 %66, %64
  %68 = icmp eq i32 %67, %66
  %69 = getelementptr inbounds i32, ptr %55, i64 4
  %70 = icmp ult ptr %69, %46
  %71 = select i1 %68, i1 %70, i1 false
  br i1 %71, label %54, label %72, !llvm.loop !3

72:                                               ; preds = %54
  br i1 %68, label %73, label %76

73:                                               ; preds = %72, %50
  %74 = trunc i64 %15 to i32
  %75 = add i32 %74, 1
  store atomic i32 %75, ptr @chosen release, align 4
  br label %80

76:                                               ; preds = %72, %39, %34
  %77 = phi i32 [ %16, %34 ], [ -7, %72 ], [ -7, %39 ]
  %78 = add nuw nsw i64 %15, 1
  %79 = icmp eq i64 %78, %13
  br i1 %79, label %80, label %14, !llvm.loop !5

80:                                               ; preds = %76, %73, %9, %3, %1
  %81 = phi i32 [ -1, %1 ], [ -7, %3 ], [ 0, %73 ], [ -11, %9 ], [ %77, %76 ]
  ret i32 %81
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i64 @model_pool_bytes(i32 noundef %0) local_unnamed_addr #1 {
  %2 = add i32 %0, -257
  %3 = icmp ult i32 %2, -256
  %4 = zext i32 %0 to i64
  %5 = shl nuw nsw i64 %4, 3
  %6 = add nuw nsw i64 %5, 103
  %7 = and i64 %6, 65472
  %8 = select i1 %3, i64 -9, i64 %7
  ret i64 %8
}

; Function Attrs: nounwind
define i32 @model_pool_start([2 x i64] %0, i32 noundef %1, ptr noundef writeonly %2) local_unnamed_addr #0 {
  %4 = alloca i64, align 8
  %5 = alloca i64, align 8
  %6 = extractvalue [2 x i64] %0, 0
  %7 = inttoptr i64 %6 to ptr
  %8 = extractvalue [2 x i64] %0, 1
  %9 = add i32 %1, -257
  %10 = icmp ult i32 %9, -256
  %11 = zext i32 %1 to i64
  %12 = shl nuw nsw i64 %11, 3
  %13 = add nuw nsw i64 %12, 103
  %14 = and i64 %13, 65472
  %15 = select i1 %10, i64 -9, i64 %14
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %4) #15
  store i64 -15032385537, ptr %4, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %5) #15
  %16 = icmp ne i64 %6, 0
  %17 = icmp ne ptr %2, null
  %18 = and i1 %16, %17
  br i1 %18, label %19, label %86

19:                                               ; preds = %3
  br i1 %10, label %20, label %22

20:                                               ; preds = %19
  %21 = trunc i64 %15 to i32
  br label %86

22:                                               ; preds = %19
  %23 = and i64 %6, 63
  %24 = icmp eq i64 %23, 0
  br i1 %24, label %25, label %86

25:                                               ; preds = %22
  %26 = icmp ult i64 %8, %15
  br i1 %26, label %86, label %27

27:                                               ; preds = %25
  %28 = icmp ugt i32 %1, 1
  br i1 %28, label %29, label %36

29:                                               ; preds = %27
  %30 = tail call { ptr, ptr } asm "", "=r,=r,0,1"(ptr @pthread_create, ptr @pthread_join) #16, !srcloc !7
  %31 = extractvalue { ptr, ptr } %30, 0
  %32 = extractvalue { ptr, ptr } %30, 1
  %33 = icmp eq ptr %31, null
  %34 = icmp eq ptr %32, null
  %35 = select i1 %33, i1 true, i1 %34
  br i1 %35, label %86, label %36

36:                                               ; preds = %29, %27
  %37 = tail call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 172, i64 0, i64 0, i64 0, i64 0) #15, !srcloc !8
  %38 = trunc i64 %37 to i32
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(28) %7, i8 0, i64 28, i1 false)
  %39 = getelementptr inbounds i8, ptr %7, i64 28
  store i32 %38, ptr %39, align 4
  %40 = getelementptr inbounds i8, ptr %7, i64 32
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %40, i8 0, i64 16, i1 false)
  %41 = ptrtoint ptr %4 to i64
  %42 = ptrtoint ptr %5 to i64
  %43 = call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 135, i64 %41, i64 %42, i64 8, i64 2) #15, !srcloc !8
  %44 = getelementptr inbounds %struct.pool, ptr %7, i64 0, i32 5
  %45 = add nsw i32 %1, -1
  %46 = getelementptr inbounds %struct.pool, ptr %7, i64 0, i32 9
  %47 = load i32, ptr %44, align 8
  %48 = icmp ult i32 %47, %45
  br i1 %48, label %49, label %82

49:                                               ; preds = %36, %55
  %50 = phi i32 [ %57, %55 ], [ %47, %36 ]
  %51 = zext i32 %50 to i64
  %52 = getelementptr inbounds i64, ptr %46, i64 %51
  %53 = call i32 @pthread_create(ptr noundef nonnull %52, ptr noundef null, ptr noundef nonnull @serve, ptr noundef nonnull %7) #14
  %54 = icmp eq i32 %53, 0
  br i1 %54, label %55, label %59

55:                                               ; preds = %49
  %56 = load i32, ptr %44, align 8
  %57 = add i32 %56, 1
  store i32 %57, ptr %44, align 8
  %58 = icmp ult i32 %57, %45
  br i1 %58, label %49, label %82

59:                                               ; preds = %49
  %60 = call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 135, i64 %42, i64 0, i64 8, i64 2) #15, !srcloc !8
  %61 = getelementptr inbounds %struct.pool, ptr %7, i64 0, i32 4
  store atomic i32 1, ptr %61 release, align 4
  %62 = getelementptr inbounds %struct.pool, ptr %7, i64 0, i32 1
  %63 = atomicrmw add ptr %62, i32 1 release, align 4
  %64 = ptrtoint ptr %62 to i64
  %65 = call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 98, i64 129, i64 256, i64 0, i64 %64) #15, !srcloc !8
  %66 = load i32, ptr %39, align 4
  %67 = call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 172, i64 0, i64 0, i64 0, i64 0) #15, !srcloc !8
  %68 = trunc i64 %67 to i32
  %69 = icmp eq i32 %66, %68
  br i1 %69, label %70, label %86

70:                                               ; preds = %59
  %71 = load i32, ptr %44, align 8
  %72 = icmp eq i32 %71, 0
  br i1 %72, label %86, label %73

73:                                               ; preds = %70, %73
  %74 = phi i64 [ %78, %73 ], [ 0, %70 ]
  %75 = getelementptr inbounds %struct.pool, ptr %7, i64 0, i32 9, i64 %74
  %76 = load i64, ptr %75, align 8
  %77 = call i32 @pthread_join(i64 noundef %76, ptr noundef null) #14
  %78 = add nuw nsw i64 %74, 1
  %79 = load i32, ptr %44, align 8
  %80 = zext i32 %79 to i64
  %81 = icmp ult i64 %78, %80
  br i1 %81, label %73, label %86, !llvm.loop !9

82:                                               ; preds = %55, %36
  %83 = call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 135, i64 %42, i64 0, i64 8, i64 2) #15, !srcloc !8
  store i32 %1, ptr %2, align 8
  %84 = getelementptr inbounds i8, ptr %2, i64 8
  store ptr @launch_in_pool, ptr %84, align 8
  %85 = getelementptr inbounds i8, ptr %2, i64 16
  store ptr %7, ptr %85, align 8
  br label %86

86:                                               ; preds = %73, %70, %59, %29, %25, %22, %3, %82, %20
  %87 = phi i32 [ %21, %20 ], [ 0, %82 ], [ -1, %3 ], [ -3, %22 ], [ -4, %25 ], [ -12, %29 ], [ -12, %59 ], [ -12, %70 ], [ -12, %73 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %5) #15
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %4) #15
  ret i32 %87
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #2

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr nocapture writeonly, i8, i64, i1 immarg) #3

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr noalias nocapture readonly, i64, i1 immarg) #4

declare extern_weak i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef) #5

; Function Attrs: nounwind
define internal ptr @serve(ptr noundef %0) #0 {
  %2 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 4
  %3 = load atomic i32, ptr %2 acquire, align 4
  %4 = icmp eq i32 %3, 0
  br i1 %4, label %5, label %63

5:                                                ; preds = %1
  %6 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 1
  %7 = ptrtoint ptr %6 to i64
  %8 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 7
  %9 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 8
  %10 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 2
  %11 = ptrtoint ptr %10 to i64
  br label %12

12:                                               ; preds = %5, %60
  %13 = phi i32 [ 0, %5 ], [ %31, %60 ]
  br label %19

14:                                               ; preds = %23
  %15 = load atomic i32, ptr %6 acquire, align 4
  %16 = icmp eq i32 %15, %13
  br i1 %16, label %17, label %30

17:                                               ; preds = %14
  %18 = zext i32 %13 to i64
  br label %26

19:                                               ; preds = %23, %12
  %20 = phi i32 [ 0, %12 ], [ %24, %23 ]
  %21 = load atomic i32, ptr %6 acquire, align 4
  %22 = icmp eq i32 %21, %13
  br i1 %22, label %23, label %30

23:                                               ; preds = %19
  tail call void asm sideeffect "yield", ""() #15, !srcloc !10
  %24 = add nuw nsw i32 %20, 1
  %25 = icmp eq i32 %24, 1000
  br i1 %25, label %14, label %19, !llvm.loop !11

26:                                               ; preds = %26, %17
  %27 = tail call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 98, i64 128, i64 %18, i64 0, i64 %7) #15, !srcloc !8
  %28 = load atomic i32, ptr %6 acquire, align 4
  %29 = icmp eq i32 %28, %13
  br i1 %29, label %26, label %30, !llvm.loop !12

30:                                               ; preds = %19, %26, %14
  %31 = phi i32 [ %15, %14 ], [ %28, %26 ], [ %21, %19 ]
  %32 = load atomic i64, ptr %0 acquire, align 8
  %33 = and i64 %32, 65535
  %34 = lshr i64 %32, 16
  %35 = and i64 %34, 65535
  %36 = icmp ult i64 %33, %35
  br i1 %36, label %37, label %60

37:                                               ; preds = %30, %54
  %38 = phi i64 [ %55, %54 ], [ %32, %30 ]
  %39 = add i64 %38, 1
  %40 = cmpxchg ptr %0, i64 %38, i64 %39 acq_rel acquire, align 8
  %41 = extractvalue { i64, i1 } %40, 1
  %42 = extractvalue { i64, i1 } %40, 0
  br i1 %41, label %43, label %54

43:                                               ; preds = %37
  %44 = load ptr, ptr %8, align 8
  %45 = load ptr, ptr %9, align 8
  %46 = trunc i64 %38 to i32
  %47 = and i32 %46, 65535
  tail call void %44(ptr noundef %45, i32 noundef %47) #14
  %48 = atomicrmw sub ptr %10, i32 1 acq_rel, align 4
  %49 = icmp eq i32 %48, 1
  br i1 %49, label %50, label %52

50:                                               ; preds = %43
  %51 = tail call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 98, i64 129, i64 1, i64 0, i64 %11) #15, !srcloc !8
  br label %52

52:                                               ; preds = %50, %43
  %53 = load atomic i64, ptr %0 acquire, align 8
  br label %54

54:                                               ; preds = %52, %37
  %55 = phi i64 [ %53, %52 ], [ %42, %37 ]
  %56 = and i64 %55, 65535
  %57 = lshr i64 %55, 16
  %58 = and i64 %57, 65535
  %59 = icmp ult i64 %56, %58
  br i1 %59, label %37, label %60, !llvm.loop !13

60:                                               ; preds = %54, %30
  %61 = load atomic i32, ptr %2 acquire, align 4
  %62 = icmp eq i32 %61, 0
  br i1 %62, label %12, label %63, !llvm.loop !14

63:                                               ; preds = %60, %1
  ret ptr null
}

; Function Attrs: nounwind
define internal void @launch_in_pool(ptr noundef %0, ptr noundef %1, ptr noundef %2, i32 noundef %3) #0 {
  %5 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 3
  %6 = atomicrmw xchg ptr %5, i32 1 acquire, align 4
  %7 = icmp eq i32 %6, 0
  br i1 %7, label %14, label %8

8:                                                ; preds = %4
  %9 = icmp eq i32 %3, 0
  br i1 %9, label %87, label %10

10:                                               ; preds = %8, %10
  %11 = phi i32 [ %12, %10 ], [ 0, %8 ]
  tail call void %1(ptr noundef %2, i32 noundef %11) #14
  %12 = add nuw i32 %11, 1
  %13 = icmp eq i32 %12, %3
  br i1 %13, label %87, label %10, !llvm.loop !15

14:                                               ; preds = %4
  %15 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 7
  store ptr %1, ptr %15, align 8
  %16 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 8
  store ptr %2, ptr %16, align 8
  %17 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 2
  store atomic i32 %3, ptr %17 monotonic, align 4
  %18 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 1
  %19 = load i32, ptr %18, align 8
  %20 = add i32 %19, 1
  %21 = zext i32 %20 to i64
  %22 = shl nuw i64 %21, 32
  %23 = zext i32 %3 to i64
  %24 = shl nuw nsw i64 %23, 16
  %25 = or i64 %22, %24
  store atomic i64 %25, ptr %0 release, align 8
  store atomic i32 %20, ptr %18 release, align 8
  %26 = add i32 %3, -1
  %27 = ptrtoint ptr %18 to i64
  %28 = zext i32 %26 to i64
  %29 = tail call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 98, i64 129, i64 %28, i64 0, i64 %27) #15, !srcloc !8
  %30 = load atomic i64, ptr %0 acquire, align 8
  %31 = and i64 %30, 65535
  %32 = lshr i64 %30, 16
  %33 = and i64 %32, 65535
  %34 = icmp ult i64 %31, %33
  br i1 %34, label %35, label %60

35:                                               ; preds = %14
  %36 = ptrtoint ptr %17 to i64
  br label %37

37:                                               ; preds = %54, %35
  %38 = phi i64 [ %30, %35 ], [ %55, %54 ]
  %39 = add i64 %38, 1
  %40 = cmpxchg ptr %0, i64 %38, i64 %39 acq_rel acquire, align 8
  %41 = extractvalue { i64, i1 } %40, 1
  %42 = extractvalue { i64, i1 } %40, 0
  br i1 %41, label %43, label %54

43:                                               ; preds = %37
  %44 = load ptr, ptr %15, align 8
  %45 = load ptr, ptr %16, align 8
  %46 = trunc i64 %38 to i32
  %47 = and i32 %46, 65535
  tail call void %44(ptr noundef %45, i32 noundef %47) #14
  %48 = atomicrmw sub ptr %17, i32 1 acq_rel, align 4
  %49 = icmp eq i32 %48, 1
  br i1 %49, label %50, label %52

50:                                               ; preds = %43
  %51 = tail call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 98, i64 129, i64 1, i64 0, i64 %36) #15, !srcloc !8
  br label %52

52:                                               ; preds = %50, %43
  %53 = load atomic i64, ptr %0 acquire, align 8
  br label %54

54:                                               ; preds = %52, %37
  %55 = phi i64 [ %53, %52 ], [ %42, %37 ]
  %56 = and i64 %55, 65535
  %57 = lshr i64 %55, 16
  %58 = and i64 %57, 65535
  %59 = icmp ult i64 %56, %58
  br i1 %59, label %37, label %60, !llvm.loop !13

60:                                               ; preds = %54, %14
  %61 = load atomic i32, ptr %17 acquire, align 4
  %62 = icmp eq i32 %61, 0
  br i1 %62, label %86, label %63

63:                                               ; preds = %60
  %64 = ptrtoint ptr %17 to i64
  br label %65

65:                                               ; preds = %63, %83
  %66 = phi i32 [ %61, %63 ], [ %84, %83 ]
  br label %72

67:                                               ; preds = %76
  %68 = load atomic i32, ptr %17 acquire, align 4
  %69 = icmp eq i32 %68, %66
  br i1 %69, label %70, label %83

70:                                               ; preds = %67
  %71 = zext i32 %66 to i64
  br label %79

72:                                               ; preds = %65, %76
  %73 = phi i32 [ %77, %76 ], [ 0, %65 ]
  %74 = load atomic i32, ptr %17 acquire, align 4
  %75 = icmp eq i32 %74, %66
  br i1 %75, label %76, label %83

76:                                               ; preds = %72
  tail call void asm sideeffect "yield", ""() #15, !srcloc !10
  %77 = add nuw nsw i32 %73, 1
  %78 = icmp eq i32 %77, 1000
  br i1 %78, label %67, label %72, !llvm.loop !11

79:                                               ; preds = %79, %70
  %80 = tail call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 98, i64 128, i64 %71, i64 0, i64 %64) #15, !srcloc !8
  %81 = load atomic i32, ptr %17 acquire, align 4
  %82 = icmp eq i32 %81, %66
  br i1 %82, label %79, label %83, !llvm.loop !12

83:                                               ; preds = %72, %79, %67
  %84 = phi i32 [ %68, %67 ], [ %81, %79 ], [ %74, %72 ]
  %85 = icmp eq i32 %84, 0
  br i1 %85, label %86, label %65, !llvm.loop !16

86:                                               ; preds = %83, %60
  store atomic i32 0, ptr %5 release, align 8
  br label %87

87:                                               ; preds = %10, %8, %86
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #2

; Function Attrs: nounwind
define i32 @model_pool_stop(ptr noundef %0) local_unnamed_addr #0 {
  %2 = icmp eq ptr %0, null
  br i1 %2, label %37, label %3

3:                                                ; preds = %1
  %4 = getelementptr inbounds %struct.model_threads, ptr %0, i64 0, i32 2
  %5 = load ptr, ptr %4, align 8
  %6 = icmp eq ptr %5, null
  br i1 %6, label %37, label %7

7:                                                ; preds = %3
  %8 = getelementptr inbounds %struct.model_threads, ptr %0, i64 0, i32 1
  %9 = load ptr, ptr %8, align 8
  %10 = icmp eq ptr %9, @launch_in_pool
  br i1 %10, label %11, label %37

11:                                               ; preds = %7
  %12 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 4
  store atomic i32 1, ptr %12 release, align 4
  %13 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 1
  %14 = atomicrmw add ptr %13, i32 1 release, align 4
  %15 = ptrtoint ptr %13 to i64
  %16 = tail call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 98, i64 129, i64 256, i64 0, i64 %15) #15, !srcloc !8
  %17 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 6
  %18 = load i32, ptr %17, align 4
  %19 = tail call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 172, i64 0, i64 0, i64 0, i64 0) #15, !srcloc !8
  %20 = trunc i64 %19 to i32
  %21 = icmp eq i32 %18, %20
  br i1 %21, label %22, label %35

22:                                               ; preds = %11
  %23 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 5
  %24 = load i32, ptr %23, align 8
  %25 = icmp eq i32 %24, 0
  br i1 %25, label %35, label %26

26:                                               ; preds = %22, %26
  %27 = phi i64 [ %31, %26 ], [ 0, %22 ]
  %28 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 9, i64 %27
  %29 = load i64, ptr %28, align 8
  %30 = tail call i32 @pthread_join(i64 noundef %29, ptr noundef null) #14
  %31 = add nuw nsw i64 %27, 1
  %32 = load i32, ptr %23, align 8
  %33 = zext i32 %32 to i64
  %34 = icmp ult i64 %31, %33
  br i1 %34, label %26, label %35, !llvm.loop !9

35:                                               ; preds = %26, %11, %22
  store i32 1, ptr %0, align 8
  %36 = getelementptr inbounds i8, ptr %0, i64 4
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(20) %36, i8 0, i64 20, i1 false)
  br label %37

37:                                               ; preds = %7, %1, %3, %35
  %38 = phi i32 [ 0, %35 ], [ -1, %3 ], [ -1, %1 ], [ -9, %7 ]
  ret i32 %38
}

; Function Attrs: mustprogress nofree nosync nounwind willreturn memory(readwrite, inaccessiblemem: none)
define internal ptr @allocate(i32 %0, i32 %1, i64 noundef %2, i32 %3, i32 %4) #6 {
  %6 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %7 = load ptr, ptr %6, align 8
  %8 = icmp eq ptr %7, null
  br i1 %8, label %29, label %9

9:                                                ; preds = %5
  %10 = getelementptr inbounds %struct.context, ptr %7, i64 0, i32 1
  %11 = load ptr, ptr %10, align 8
  %12 = load ptr, ptr %7, align 8
  %13 = ptrtoint ptr %11 to i64
  %14 = ptrtoint ptr %12 to i64
  %15 = sub i64 %13, %14
  %16 = icmp ult i64 %15, %2
  %17 = sub nsw i64 %15, %2
  %18 = icmp slt i64 %17, 128
  %19 = select i1 %16, i1 true, i1 %18
  br i1 %19, label %29, label %20

20:                                               ; preds = %9
  %21 = getelementptr inbounds i8, ptr %12, i64 64
  %22 = getelementptr inbounds i8, ptr %12, i64 48
  store ptr %21, ptr %22, align 8
  %23 = load ptr, ptr %7, align 8
  %24 = getelementptr inbounds i8, ptr %12, i64 56
  store ptr %23, ptr %24, align 8
  %25 = add nsw i64 %2, 63
  %26 = sdiv i64 %25, 64
  %27 = shl nsw i64 %26, 6
  %28 = getelementptr inbounds i8, ptr %21, i64 %27
  store ptr %28, ptr %7, align 8
  br label %29

29:                                               ; preds = %5, %9, %20
  %30 = phi ptr [ %21, %20 ], [ null, %9 ], [ null, %5 ]
  ret ptr %30
}

; Function Attrs: mustprogress nofree nosync nounwind willreturn memory(readwrite, inaccessiblemem: none)
define internal i32 @release(i32 %0, i32 %1, ptr noundef readonly %2) #6 {
  %4 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %5 = load ptr, ptr %4, align 8
  %6 = icmp ne ptr %5, null
  %7 = icmp ne ptr %2, null
  %8 = and i1 %7, %6
  br i1 %8, label %9, label %12

9:                                                ; preds = %3
  %10 = getelementptr %struct.block, ptr %2, i64 -1, i32 1
  %11 = load ptr, ptr %10, align 8
  store ptr %11, ptr %5, align 8
  br label %12

12:                                               ; preds = %9, %3
  ret i32 0
}

; Function Attrs: nounwind
define internal i32 @launch(ptr noundef %0, ptr noundef %1, i32 noundef %2) #0 {
  %4 = alloca %struct.loop, align 8
  %5 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %6 = load ptr, ptr %5, align 8
  %7 = icmp eq ptr %6, null
  br i1 %7, label %18, label %8

8:                                                ; preds = %3
  %9 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 2
  %10 = load ptr, ptr %9, align 8
  %11 = icmp eq ptr %10, null
  br i1 %11, label %18, label %12

12:                                               ; preds = %8
  %13 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 5
  %14 = load ptr, ptr %13, align 8
  %15 = icmp eq ptr %14, null
  br i1 %15, label %18, label %16

16:                                               ; preds = %12
  %17 = load i32, ptr %14, align 8
  br label %18

18:                                               ; preds = %3, %8, %12, %16
  %19 = phi i32 [ %17, %16 ], [ 1, %12 ], [ 1, %8 ], [ 1, %3 ]
  call void @llvm.lifetime.start.p0(i64 48, ptr nonnull %4) #15
  store ptr %6, ptr %4, align 8
  %20 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 1
  store ptr %0, ptr %20, align 8
  %21 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 2
  store ptr %1, ptr %21, align 8
  %22 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 3
  store ptr null, ptr %22, align 8
  %23 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 3, i32 1
  %24 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 4
  store i32 0, ptr %24, align 8
  %25 = icmp sgt i32 %2, 0
  %26 = icmp ugt i32 %19, %2
  %27 = select i1 %25, i1 %26, i1 false
  %28 = select i1 %27, i32 %2, i32 %19
  store i32 %28, ptr %23, align 8
  br i1 %7, label %64, label %29

29:                                               ; preds = %18
  %30 = icmp eq i32 %28, 1
  br i1 %30, label %31, label %53

31:                                               ; preds = %29
  %32 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 2
  %33 = load ptr, ptr %32, align 8
  %34 = icmp eq ptr %33, null
  br i1 %34, label %35, label %37

35:                                               ; preds = %31
  %36 = call i32 %0(i32 noundef 0, ptr noundef nonnull %22, ptr noundef %1) #14
  br label %64

37:                                               ; preds = %31
  %38 = load ptr, ptr %5, align 8
  %39 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 3
  %40 = load ptr, ptr %39, align 8
  store ptr %33, ptr %40, align 8
  %41 = load ptr, ptr %4, align 8
  %42 = getelementptr inbounds %struct.context, ptr %41, i64 0, i32 4
  %43 = load i64, ptr %42, align 8
  %44 = getelementptr inbounds i8, ptr %33, i64 %43
  %45 = getelementptr inbounds %struct.context, ptr %40, i64 0, i32 1
  store ptr %44, ptr %45, align 8
  %46 = getelementptr inbounds %struct.context, ptr %40, i64 0, i32 2
  store ptr null, ptr %46, align 8
  store ptr %40, ptr %5, align 8
  %47 = load ptr, ptr %20, align 8
  %48 = load ptr, ptr %21, align 8
  %49 = call i32 %47(i32 noundef 0, ptr noundef nonnull %22, ptr noundef %48) #14
  %50 = icmp eq i32 %49, 0
  br i1 %50, label %52, label %51

51:                                               ; preds = %37
  store atomic i32 1, ptr %24 monotonic, align 8
  br label %52

52:                                               ; preds = %37, %51
  store ptr %38, ptr %5, align 8
  br label %60

53:                                               ; preds = %29
  %54 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 5
  %55 = load ptr, ptr %54, align 8
  %56 = getelementptr inbounds %struct.model_threads, ptr %55, i64 0, i32 1
  %57 = load ptr, ptr %56, align 8
  %58 = getelementptr inbounds %struct.model_threads, ptr %55, i64 0, i32 2
  %59 = load ptr, ptr %58, align 8
  call void %57(ptr noundef %59, ptr noundef nonnull @run_task, ptr noundef nonnull %4, i32 noundef %28) #14
  br label %60

60:                                               ; preds = %53, %52
  %61 = load i32, ptr %24, align 8
  %62 = icmp ne i32 %61, 0
  %63 = sext i1 %62 to i32
  br label %64

64:                                               ; preds = %18, %60, %35
  %65 = phi i32 [ %63, %60 ], [ %36, %35 ], [ -1, %18 ]
  call void @llvm.lifetime.end.p0(i64 48, ptr nonnull %4) #15
  ret i32 %65
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define internal void @set_error(ptr nocapture %0, ptr nocapture %1) #1 {
  ret void
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define internal void @set_error_parts(ptr nocapture %0, ptr nocapture %1, i32 %2) #1 {
  ret void
}

; Function Attrs: mustprogress nofree norecurse nounwind willreturn memory(readwrite, inaccessiblemem: none)
define i32 @model_describe(ptr noundef writeonly %0) local_unnamed_addr #7 {
  %2 = load atomic i32, ptr @chosen acquire, align 4
  %3 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %4 = zext i32 %3 to i64
  %5 = getelementptr inbounds i8, ptr @model_plan, i64 %4
  %6 = add i32 %2, -1
  %7 = zext i32 %6 to i64
  %8 = getelementptr inbounds %struct.plan_code, ptr %5, i64 %7
  %9 = icmp eq ptr %0, null
  br i1 %9, label %39, label %10

10:                                               ; preds = %1
  %11 = icmp eq i32 %2, 0
  %12 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 8), align 4
  %13 = zext i32 %12 to i64
  %14 = getelementptr inbounds i8, ptr @model_plan, i64 %13
  store ptr %14, ptr %0, align 8
  %15 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 9), align 4
  %16 = zext i32 %15 to i64
  %17 = getelementptr inbounds i8, ptr @model_plan, i64 %16
  %18 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 1
  store ptr %17, ptr %18, align 8
  %19 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 10), align 4
  %20 = zext i32 %19 to i64
  %21 = getelementptr inbounds i8, ptr @model_plan, i64 %20
  %22 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 2
  store ptr %21, ptr %22, align 8
  br i1 %11, label %27, label %23

23:                                               ; preds = %10
  %24 = load i32, ptr %8, align 8
  %25 = zext i32 %24 to i64
  %26 = getelementptr inbounds i8, ptr @model_plan, i64 %25
  br label %27

27:                                               ; preds = %10, %23
  %28 = phi ptr [ %26, %23 ], [ null, %10 ]
  %29 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 3
  store ptr %28, ptr %29, align 8
  %30 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 11), align 4
  %31 = zext i32 %30 to i64
  %32 = getelementptr inbounds i8, ptr @model_plan, i64 %31
  %33 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 4
  store ptr %32, ptr %33, align 8
  %34 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 5
  store i32 1, ptr %34, align 8
  %35 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %36 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 6
  store i32 %35, ptr %36, align 4
  %37 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 7
  %38 = load <2 x i32>, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  store <2 x i32> %38, ptr %37, align 8
  br label %39

39:                                               ; preds = %1, %27
  %40 = phi i32 [ 0, %27 ], [ -1, %1 ]
  ret i32 %40
}

; Function Attrs: nofree norecurse nosync nounwind memory(argmem: write)
define i32 @model_input(i32 noundef %0, ptr nocapture noundef readnone %1, ptr noundef writeonly %2) local_unnamed_addr #8 {
  %4 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %5 = icmp ugt i32 %4, %0
  br i1 %5, label %6, label %97

6:                                                ; preds = %3
  %7 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %8 = zext i32 %7 to i64
  %9 = getelementptr inbounds i8, ptr @model_plan, i64 %8
  %10 = zext i32 %0 to i64
  %11 = getelementptr inbounds %struct.plan_tensor, ptr %9, i64 %10
  %12 = icmp eq ptr %2, null
  br i1 %12, label %97, label %13

13:                                               ; preds = %6
  %14 = load i32, ptr %11, align 8
  %15 = zext i32 %14 to i64
  %16 = getelementptr inbounds i8, ptr @model_plan, i64 %15
  store ptr %16, ptr %2, align 8
  %17 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 1
  %18 = load i32, ptr %17, align 4
  %19 = zext i32 %18 to i64
  %20 = getelementptr inbounds i8, ptr @model_plan, i64 %19
  %21 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 1
  store ptr %20, ptr %21, align 8
  %22 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 2
  %23 = load i32, ptr %22, align 8
  %24 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 2
  store i32 %23, ptr %24, align 8
  %25 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 3
  %26 = load i32, ptr %25, align 4
  %27 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 3
  store i32 %26, ptr %27, align 4
  %28 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 0
  %29 = load i64, ptr %28, align 8
  %30 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 0
  store i64 %29, ptr %30, align 8
  %31 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 1
  %32 = load i64, ptr %31, align 8
  %33 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 1
  store i64 %32, ptr %33, align 8
  %34 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 2
  %35 = load i64, ptr %34, align 8
  %36 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 2
  store i64 %35, ptr %36, align 8
  %37 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 3
  %38 = load i64, ptr %37, align 8
  %39 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 3
  store i64 %38, ptr %39, align 8
  %40 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 4
  %41 = load i64, ptr %40, align 8
  %42 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 4
  store i64 %41, ptr %42, align 8
  %43 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 5
  %44 = load i64, ptr %43, align 8
  %45 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 5
  store i64 %44, ptr %45, align 8
  %46 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 6
  %47 = load i64, ptr %46, align 8
  %48 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 6
  store i64 %47, ptr %48, align 8
  %49 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 7
  %50 = load i64, ptr %49, align 8
  %51 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 7
  store i64 %50, ptr %51, align 8
  %52 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 4
  %53 = load i32, ptr %52, align 8
  %54 = zext i32 %53 to i64
  %55 = icmp eq i32 %23, 0
  br i1 %55, label %88, label %56

56:                                               ; preds = %13
  %57 = zext i32 %23 to i64
  %58 = icmp eq i32 %23, 1
  br i1 %58, label %77, label %59

59:                                               ; preds = %56
  %60 = and i64 %57, 4294967294
  br label %61

61:                                               ; preds = %61, %59
  %62 = phi i64 [ 0, %59 ], [ %72, %61 ]
  %63 = phi i64 [ %54, %59 ], [ %70, %61 ]
  %64 = phi i64 [ 1, %59 ], [ %71, %61 ]
  %65 = or i64 %62, 1
  %66 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %62
  %67 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %65
  %68 = load i64, ptr %66, align 8
  %69 = load i64, ptr %67, align 8
  %70 = mul i64 %68, %63
  %71 = mul i64 %69, %64
  %72 = add nuw i64 %62, 2
  %73 = icmp eq i64 %72, %60
  br i1 %73, label %74, label %61, !llvm.loop !17

74:                                               ; preds = %61
  %75 = mul i64 %71, %70
  %76 = icmp eq i64 %60, %57
  br i1 %76, label %88, label %77

77:                                               ; preds = %56, %74
  %78 = phi i64 [ 0, %56 ], [ %60, %74 ]
  %79 = phi i64 [ %54, %56 ], [ %75, %74 ]
  br label %80

80:                                               ; preds = %77, %80
  %81 = phi i64 [ %86, %80 ], [ %78, %77 ]
  %82 = phi i64 [ %85, %80 ], [ %79, %77 ]
  %83 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %81
  %84 = load i64, ptr %83, align 8
  %85 = mul nsw i64 %84, %82
  %86 = add nuw nsw i64 %81, 1
  %87 = icmp eq i64 %86, %57
  br i1 %87, label %88, label %80, !llvm.loop !20

88:                                               ; preds = %80, %74, %13
  %89 = phi i64 [ %54, %13 ], [ %75, %74 ], [ %85, %80 ]
  %90 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 5
  store i64 %89, ptr %90, align 8
  %91 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 6
  %92 = load double, ptr %91, align 8
  %93 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 6
  store double %92, ptr %93, align 8
  %94 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 7
  %95 = load i64, ptr %94, align 8
  %96 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 7
  store i64 %95, ptr %96, align 8
  br label %97

97:                                               ; preds = %88, %6, %3
  %98 = phi i32 [ -6, %3 ], [ 0, %88 ], [ -1, %6 ]
  ret i32 %98
}

; Function Attrs: nofree norecurse nosync nounwind memory(argmem: write)
define i32 @model_output(i32 noundef %0, ptr nocapture noundef readnone %1, ptr noundef writeonly %2) local_unnamed_addr #8 {
  %4 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %5 = icmp ugt i32 %4, %0
  br i1 %5, label %6, label %97

6:                                                ; preds = %3
  %7 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 5), align 4
  %8 = zext i32 %7 to i64
  %9 = getelementptr inbounds i8, ptr @model_plan, i64 %8
  %10 = zext i32 %0 to i64
  %11 = getelementptr inbounds %struct.plan_tensor, ptr %9, i64 %10
  %12 = icmp eq ptr %2, null
  br i1 %12, label %97, label %13

13:                                               ; preds = %6
  %14 = load i32, ptr %11, align 8
  %15 = zext i32 %14 to i64
  %16 = getelementptr inbounds i8, ptr @model_plan, i64 %15
  store ptr %16, ptr %2, align 8
  %17 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 1
  %18 = load i32, ptr %17, align 4
  %19 = zext i32 %18 to i64
  %20 = getelementptr inbounds i8, ptr @model_plan, i64 %19
  %21 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 1
  store ptr %20, ptr %21, align 8
  %22 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 2
  %23 = load i32, ptr %22, align 8
  %24 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 2
  store i32 %23, ptr %24, align 8
  %25 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 3
  %26 = load i32, ptr %25, align 4
  %27 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 3
  store i32 %26, ptr %27, align 4
  %28 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 0
  %29 = load i64, ptr %28, align 8
  %30 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 0
  store i64 %29, ptr %30, align 8
  %31 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 1
  %32 = load i64, ptr %31, align 8
  %33 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 1
  store i64 %32, ptr %33, align 8
  %34 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 2
  %35 = load i64, ptr %34, align 8
  %36 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 2
  store i64 %35, ptr %36, align 8
  %37 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 3
  %38 = load i64, ptr %37, align 8
  %39 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 3
  store i64 %38, ptr %39, align 8
  %40 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 4
  %41 = load i64, ptr %40, align 8
  %42 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 4
  store i64 %41, ptr %42, align 8
  %43 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 5
  %44 = load i64, ptr %43, align 8
  %45 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 5
  store i64 %44, ptr %45, align 8
  %46 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 6
  %47 = load i64, ptr %46, align 8
  %48 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 6
  store i64 %47, ptr %48, align 8
  %49 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 7
  %50 = load i64, ptr %49, align 8
  %51 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 7
  store i64 %50, ptr %51, align 8
  %52 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 4
  %53 = load i32, ptr %52, align 8
  %54 = zext i32 %53 to i64
  %55 = icmp eq i32 %23, 0
  br i1 %55, label %88, label %56

56:                                               ; preds = %13
  %57 = zext i32 %23 to i64
  %58 = icmp eq i32 %23, 1
  br i1 %58, label %77, label %59

59:                                               ; preds = %56
  %60 = and i64 %57, 4294967294
  br label %61

61:                                               ; preds = %61, %59
  %62 = phi i64 [ 0, %59 ], [ %72, %61 ]
  %63 = phi i64 [ %54, %59 ], [ %70, %61 ]
  %64 = phi i64 [ 1, %59 ], [ %71, %61 ]
  %65 = or i64 %62, 1
  %66 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %62
  %67 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %65
  %68 = load i64, ptr %66, align 8
  %69 = load i64, ptr %67, align 8
  %70 = mul i64 %68, %63
  %71 = mul i64 %69, %64
  %72 = add nuw i64 %62, 2
  %73 = icmp eq i64 %72, %60
  br i1 %73, label %74, label %61, !llvm.loop !21

74:                                               ; preds = %61
  %75 = mul i64 %71, %70
  %76 = icmp eq i64 %60, %57
  br i1 %76, label %88, label %77

77:                                               ; preds = %56, %74
  %78 = phi i64 [ 0, %56 ], [ %60, %74 ]
  %79 = phi i64 [ %54, %56 ], [ %75, %74 ]
  br label %80

80:                                               ; preds = %77, %80
  %81 = phi i64 [ %86, %80 ], [ %78, %77 ]
  %82 = phi i64 [ %85, %80 ], [ %79, %77 ]
  %83 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %81
  %84 = load i64, ptr %83, align 8
  %85 = mul nsw i64 %84, %82
  %86 = add nuw nsw i64 %81, 1
  %87 = icmp eq i64 %86, %57
  br i1 %87, label %88, label %80, !llvm.loop !22

88:                                               ; preds = %80, %74, %13
  %89 = phi i64 [ %54, %13 ], [ %75, %74 ], [ %85, %80 ]
  %90 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 5
  store i64 %89, ptr %90, align 8
  %91 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 6
  %92 = load double, ptr %91, align 8
  %93 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 6
  store double %92, ptr %93, align 8
  %94 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 7
  %95 = load i64, ptr %94, align 8
  %96 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 7
  store i64 %95, ptr %96, align 8
  br label %97

97:                                               ; preds = %88, %6, %3
  %98 = phi i32 [ -6, %3 ], [ 0, %88 ], [ -1, %6 ]
  ret i32 %98
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define nonnull ptr @model_status_text(i32 noundef %0) local_unnamed_addr #1 {
  %2 = add i32 %0, 14
  %3 = icmp ult i32 %2, 15
  br i1 %3, label %4, label %8

4:                                                ; preds = %1
  %5 = sext i32 %2 to i64
  %6 = shl i64 %5, 2
  %7 = call ptr @llvm.load.relative.i64(ptr @reltable.model_status_text, i64 %6)
  br label %8

8:                                                ; preds = %1, %4
  %9 = phi ptr [ %7, %4 ], [ @.str.15, %1 ]
  ret ptr %9
}

; Function Attrs: mustprogress nofree norecurse nounwind willreturn memory(readwrite, argmem: read, inaccessiblemem: none)
define i64 @model_workspace_bytes(ptr nocapture noundef readnone %0, i32 noundef %1) local_unnamed_addr #9 {
  %3 = load atomic i32, ptr @chosen acquire, align 4
  %4 = icmp eq i32 %3, 0
  %5 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %6 = zext i32 %5 to i64
  %7 = getelementptr inbounds i8, ptr @model_plan, i64 %6
  %8 = add i32 %3, -1
  %9 = zext i32 %8 to i64
  %10 = getelementptr inbounds %struct.plan_code, ptr %7, i64 %9
  %11 = select i1 %4, ptr null, ptr %10
  br i1 %4, label %47, label %12

12:                                               ; preds = %2
  %13 = icmp eq i32 %1, 0
  br i1 %13, label %47, label %14

14:                                               ; preds = %12
  %15 = getelementptr inbounds %struct.plan_code, ptr %11, i64 0, i32 6
  %16 = load i32, ptr %15, align 8
  %17 = zext i32 %16 to i64
  %18 = mul nuw nsw i64 %17, 48
  %19 = add nuw nsw i64 %18, 63
  %20 = and i64 %19, 549755813824
  %21 = shl nuw nsw i64 %17, 4
  %22 = add nuw nsw i64 %21, 63
  %23 = and i64 %22, 137438953408
  %24 = zext i32 %1 to i64
  %25 = mul nuw nsw i64 %24, 48
  %26 = add nuw nsw i64 %25, 111
  %27 = and i64 %26, 549755813824
  %28 = getelementptr inbounds %struct.plan_code, ptr %11, i64 0, i32 8
  %29 = load i64, ptr %28, align 8
  %30 = add nsw i64 %29, 63
  %31 = sdiv i64 %30, 64
  %32 = getelementptr inbounds %struct.plan_code, ptr %11, i64 0, i32 9
  %33 = load i64, ptr %32, align 8
  %34 = add nsw i64 %33, 63
  %35 = sdiv i64 %34, 64
  %36 = getelementptr inbounds %struct.plan_code, ptr %11, i64 0, i32 10
  %37 = load i64, ptr %36, align 8
  %38 = add nsw i64 %37, 63
  %39 = sdiv i64 %38, 64
  %40 = mul i64 %39, %24
  %41 = add nsw i64 %35, %31
  %42 = add i64 %41, %40
  %43 = shl i64 %42, 6
  %44 = add nuw nsw i64 %23, %27
  %45 = add nuw nsw i64 %44, %20
  %46 = add i64 %45, %43
  br label %47

47:                                               ; preds = %14, %12, %2
  %48 = phi i64 [ -8, %2 ], [ %46, %14 ], [ -9, %12 ]
  ret i64 %48
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: read)
define internal fastcc i64 @workspace_bytes(ptr nocapture noundef readonly %0, i32 noundef %1) unnamed_addr #10 {
  %3 = getelementptr inbounds %struct.plan_code, ptr %0, i64 0, i32 6
  %4 = load i32, ptr %3, align 8
  %5 = zext i32 %4 to i64
  %6 = mul nuw nsw i64 %5, 48
  %7 = add nuw nsw i64 %6, 63
  %8 = and i64 %7, 549755813824
  %9 = shl nuw nsw i64 %5, 4
  %10 = add nuw nsw i64 %9, 63
  %11 = and i64 %10, 137438953408
  %12 = zext i32 %1 to i64
  %13 = mul nuw nsw i64 %12, 48
  %14 = add nuw nsw i64 %13, 111
  %15 = and i64 %14, 549755813824
  %16 = getelementptr inbounds %struct.plan_code, ptr %0, i64 0, i32 8
  %17 = load i64, ptr %16, align 8
  %18 = add nsw i64 %17, 63
  %19 = sdiv i64 %18, 64
  %20 = getelementptr inbounds %struct.plan_code, ptr %0, i64 0, i32 9
  %21 = load i64, ptr %20, align 8
  %22 = add nsw i64 %21, 63
  %23 = sdiv i64 %22, 64
  %24 = getelementptr inbounds %struct.plan_code, ptr %0, i64 0, i32 10
  %25 = load i64, ptr %24, align 8
  %26 = add nsw i64 %25, 63
  %27 = sdiv i64 %26, 64
  %28 = mul i64 %27, %12
  %29 = add nsw i64 %23, %19
  %30 = add i64 %29, %28
  %31 = shl i64 %30, 6
  %32 = add nuw nsw i64 %11, %15
  %33 = add nuw nsw i64 %32, %8
  %34 = add i64 %33, %31
  ret i64 %34
}

; Function Attrs: nounwind
define i32 @model_run(ptr nocapture noundef readnone %0, ptr noundef %1, ptr noundef %2, [2 x i64] %3, ptr noundef %4) local_unnamed_addr #0 {
  %6 = alloca %struct.run, align 8
  %7 = extractvalue [2 x i64] %3, 0
  %8 = inttoptr i64 %7 to ptr
  %9 = extractvalue [2 x i64] %3, 1
  call void @llvm.lifetime.start.p0(i64 80, ptr nonnull %6) #15
  %10 = load atomic i32, ptr @chosen acquire, align 4
  %11 = icmp eq i32 %10, 0
  %12 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %13 = zext i32 %12 to i64
  %14 = getelementptr inbounds i8, ptr @model_plan, i64 %13
  %15 = add i32 %10, -1
  %16 = zext i32 %15 to i64
  %17 = getelementptr inbounds %struct.plan_code, ptr %14, i64 %16
  %18 = select i1 %11, ptr null, ptr %17
  store ptr %18, ptr %6, align 8
  %19 = getelementptr inbounds %struct.run, ptr %6, i64 0, i32 1
  store ptr %1, ptr %19, align 8
  %20 = getelementptr inbounds %struct.run, ptr %6, i64 0, i32 2
  store ptr %2, ptr %20, align 8
  %21 = getelementptr inbounds %struct.run, ptr %6, i64 0, i32 3
  store <2 x ptr> zeroinitializer, ptr %21, align 8
  %22 = getelementptr inbounds %struct.run, ptr %6, i64 0, i32 5
  store <2 x ptr> zeroinitializer, ptr %22, align 8
  %23 = getelementptr inbounds %struct.run, ptr %6, i64 0, i32 7
  store <2 x ptr> zeroinitializer, ptr %23, align 8
  %24 = getelementptr inbounds %struct.run, ptr %6, i64 0, i32 9
  store ptr null, ptr %24, align 8
  br i1 %11, label %197, label %25

25:                                               ; preds = %5
  %26 = icmp eq ptr %4, null
  br i1 %26, label %33, label %27

27:                                               ; preds = %25
  %28 = load i32, ptr %4, align 8
  switch i32 %28, label %29 [
    i32 0, label %197
    i32 1, label %33
  ]

29:                                               ; preds = %27
  %30 = getelementptr inbounds %struct.model_threads, ptr %4, i64 0, i32 1
  %31 = load ptr, ptr %30, align 8
  %32 = icmp eq ptr %31, null
  br i1 %32, label %197, label %33

33:                                               ; preds = %27, %29, %25
  %34 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %35 = zext i32 %34 to i64
  %36 = getelementptr inbounds i8, ptr @model_plan, i64 %35
  %37 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %38 = icmp eq i32 %37, 0
  %39 = icmp ne ptr %1, null
  %40 = xor i1 %39, true
  %41 = or i1 %38, %40
  br i1 %41, label %105, label %42

42:                                               ; preds = %33
  %43 = zext i32 %37 to i64
  br label %47

44:                                               ; preds = %98
  %45 = add nuw nsw i64 %48, 1
  %46 = icmp eq i64 %45, %43
  br i1 %46, label %107, label %47, !llvm.loop !23

47:                                               ; preds = %44, %42
  %48 = phi i64 [ 0, %42 ], [ %45, %44 ]
  %49 = getelementptr inbounds %struct.plan_tensor, ptr %36, i64 %48, i32 4
  %50 = load i32, ptr %49, align 8
  %51 = zext i32 %50 to i64
  %52 = getelementptr inbounds %struct.plan_tensor, ptr %36, i64 %48, i32 2
  %53 = load i32, ptr %52, align 8
  %54 = icmp eq i32 %53, 0
  br i1 %54, label %87, label %55

55:                                               ; preds = %47
  %56 = zext i32 %53 to i64
  %57 = icmp eq i32 %53, 1
  br i1 %57, label %76, label %58

58:                                               ; preds = %55
  %59 = and i64 %56, 4294967294
  br label %60

60:                                               ; preds = %60, %58
  %61 = phi i64 [ 0, %58 ], [ %71, %60 ]
  %62 = phi i64 [ %51, %58 ], [ %69, %60 ]
  %63 = phi i64 [ 1, %58 ], [ %70, %60 ]
  %64 = or i64 %61, 1
  %65 = getelementptr inbounds %struct.plan_tensor, ptr %36, i64 %48, i32 8, i64 %61
  %66 = getelementptr inbounds %struct.plan_tensor, ptr %36, i64 %48, i32 8, i64 %64
  %67 = load i64, ptr %65, align 8
  %68 = load i64, ptr %66, align 8
  %69 = mul i64 %67, %62
  %70 = mul i64 %68, %63
  %71 = add nuw i64 %61, 2
  %72 = icmp eq i64 %71, %59
  br i1 %72, label %73, label %60, !llvm.loop !24

73:                                               ; preds = %60
  %74 = mul i64 %70, %69
  %75 = icmp eq i64 %59, %56
  br i1 %75, label %87, label %76

76:                                               ; preds = %55, %73
  %77 = phi i64 [ 0, %55 ], [ %59, %73 ]
  %78 = phi i64 [ %51, %55 ], [ %74, %73 ]
  br label %79

79:                                               ; preds = %76, %79
  %80 = phi i64 [ %85, %79 ], [ %77, %76 ]
  %81 = phi i64 [ %84, %79 ], [ %78, %76 ]
  %82 = getelementptr inbounds %struct.plan_tensor, ptr %36, i64 %48, i32 8, i64 %80
  %83 = load i64, ptr %82, align 8
  %84 = mul nsw i64 %83, %81
  %85 = add nuw nsw i64 %80, 1
  %86 = icmp eq i64 %85, %56
  br i1 %86, label %87, label %79, !llvm.loop !25

87:                                               ; preds = %79, %73, %47
  %88 = phi i64 [ %51, %47 ], [ %74, %73 ], [ %84, %79 ]
  %89 = getelementptr inbounds %struct.model_buffer, ptr %1, i64 %48, i32 1
  %90 = load i64, ptr %89, align 8
  %91 = icmp ult i64 %90, %88
  br i1 %91, label %197, label %92

92:                                               ; preds = %87
  %93 = getelementptr inbounds %struct.model_buffer, ptr %1, i64 %48
  %94 = icmp ne i64 %88, 0
  %95 = load ptr, ptr %93, align 8
  %96 = icmp eq ptr %95, null
  %97 = select i1 %94, i1 %96, i1 false
  br i1 %97, label %197, label %98

98:                                               ; preds = %92
  %99 = ptrtoint ptr %95 to i64
  %100 = getelementptr inbounds %struct.plan_tensor, ptr %36, i64 %48, i32 3
  %101 = load i32, ptr %100, align 4
  %102 = zext i32 %101 to i64
  %103 = urem i64 %99, %102
  %104 = icmp eq i64 %103, 0
  br i1 %104, label %44, label %197

105:                                              ; preds = %33
  %106 = or i1 %39, %38
  br i1 %106, label %107, label %197

107:                                              ; preds = %44, %105
  %108 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 5), align 4
  %109 = zext i32 %108 to i64
  %110 = getelementptr inbounds i8, ptr @model_plan, i64 %109
  %111 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %112 = icmp eq i32 %111, 0
  %113 = icmp ne ptr %2, null
  %114 = xor i1 %113, true
  %115 = or i1 %112, %114
  br i1 %115, label %179, label %116

116:                                              ; preds = %107
  %117 = zext i32 %111 to i64
  br label %121

118:                                              ; preds = %172
  %119 = add nuw nsw i64 %122, 1
  %120 = icmp eq i64 %119, %117
  br i1 %120, label %183, label %121, !llvm.loop !23

121:                                              ; preds = %118, %116
  %122 = phi i64 [ 0, %116 ], [ %119, %118 ]
  %123 = getelementptr inbounds %struct.plan_tensor, ptr %110, i64 %122, i32 4
  %124 = load i32, ptr %123, align 8
  %125 = zext i32 %124 to i64
  %126 = getelementptr inbounds %struct.plan_tensor, ptr %110, i64 %122, i32 2
  %127 = load i32, ptr %126, align 8
  %128 = icmp eq i32 %127, 0
  br i1 %128, label %161, label %129

129:                                              ; preds = %121
  %130 = zext i32 %127 to i64
  %131 = icmp eq i32 %127, 1
  br i1 %131, label %150, label %132

132:                                              ; preds = %129
  %133 = and i64 %130, 4294967294
  br label %134

134:                                              ; preds = %134, %132
  %135 = phi i64 [ 0, %132 ], [ %145, %134 ]
  %136 = phi i64 [ %125, %132 ], [ %143, %134 ]
  %137 = phi i64 [ 1, %132 ], [ %144, %134 ]
  %138 = or i64 %135, 1
  %139 = getelementptr inbounds %struct.plan_tensor, ptr %110, i64 %122, i32 8, i64 %135
  %140 = getelementptr inbounds %struct.plan_tensor, ptr %110, i64 %122, i32 8, i64 %138
  %141 = load i64, ptr %139, align 8
  %142 = load i64, ptr %140, align 8
  %143 = mul i64 %141, %136
  %144 = mul i64 %142, %137
  %145 = add nuw i64 %135, 2
  %146 = icmp eq i64 %145, %133
  br i1 %146, label %147, label %134, !llvm.loop !26

147:                                              ; preds = %134
  %148 = mul i64 %144, %143
  %149 = icmp eq i64 %133, %130
  br i1 %149, label %161, label %150

150:                                              ; preds = %129, %147
  %151 = phi i64 [ 0, %129 ], [ %133, %147 ]
  %152 = phi i64 [ %125, %129 ], [ %148, %147 ]
  br label %153

153:                                              ; preds = %150, %153
  %154 = phi i64 [ %159, %153 ], [ %151, %150 ]
  %155 = phi i64 [ %158, %153 ], [ %152, %150 ]
  %156 = getelementptr inbounds %struct.plan_tensor, ptr %110, i64 %122, i32 8, i64 %154
  %157 = load i64, ptr %156, align 8
  %158 = mul nsw i64 %157, %155
  %159 = add nuw nsw i64 %154, 1
  %160 = icmp eq i64 %159, %130
  br i1 %160, label %161, label %153, !llvm.loop !27

161:                                              ; preds = %153, %147, %121
  %162 = phi i64 [ %125, %121 ], [ %148, %147 ], [ %158, %153 ]
  %163 = getelementptr inbounds %struct.model_buffer, ptr %2, i64 %122, i32 1
  %164 = load i64, ptr %163, align 8
  %165 = icmp ult i64 %164, %162
  br i1 %165, label %197, label %166

166:                                              ; preds = %161
  %167 = getelementptr inbounds %struct.model_buffer, ptr %2, i64 %122
  %168 = icmp ne i64 %162, 0
  %169 = load ptr, ptr %167, align 8
  %170 = icmp eq ptr %169, null
  %171 = select i1 %168, i1 %170, i1 false
  br i1 %171, label %197, label %172

172:                                              ; preds = %166
  %173 = ptrtoint ptr %169 to i64
  %174 = getelementptr inbounds %struct.plan_tensor, ptr %110, i64 %122, i32 3
  %175 = load i32, ptr %174, align 4
  %176 = zext i32 %175 to i64
  %177 = urem i64 %173, %176
  %178 = icmp eq i64 %177, 0
  br i1 %178, label %118, label %197

179:                                              ; preds = %107
  %180 = or i1 %113, %112
  %181 = icmp ne i64 %7, 0
  %182 = select i1 %180, i1 %181, i1 false
  br i1 %182, label %185, label %197

183:                                              ; preds = %118
  %184 = icmp eq i64 %7, 0
  br i1 %184, label %197, label %185

185:                                              ; preds = %179, %183
  %186 = and i64 %7, 63
  %187 = icmp eq i64 %186, 0
  br i1 %187, label %188, label %197

188:                                              ; preds = %185
  br i1 %26, label %191, label %189

189:                                              ; preds = %188
  %190 = load i32, ptr %4, align 8
  br label %191

191:                                              ; preds = %188, %189
  %192 = phi i32 [ %190, %189 ], [ 1, %188 ]
  %193 = tail call fastcc i64 @workspace_bytes(ptr noundef %18, i32 noundef %192) #17
  %194 = icmp ult i64 %9, %193
  br i1 %194, label %197, label %195

195:                                              ; preds = %191
  %196 = call fastcc i32 @run_model(ptr noundef nonnull %6, ptr noundef nonnull %8, ptr noundef %4) #17
  br label %197

197:                                              ; preds = %92, %98, %87, %166, %172, %161, %191, %185, %183, %179, %105, %29, %27, %5, %195
  %198 = phi i32 [ %196, %195 ], [ -8, %5 ], [ -9, %27 ], [ -9, %29 ], [ -1, %105 ], [ -1, %179 ], [ -1, %183 ], [ -3, %185 ], [ -4, %191 ], [ -2, %161 ], [ -3, %172 ], [ -1, %166 ], [ -2, %87 ], [ -3, %98 ], [ -1, %92 ]
  call void @llvm.lifetime.end.p0(i64 80, ptr nonnull %6) #15
  ret i32 %198
}

; Function Attrs: nounwind
define internal fastcc i32 @run_model(ptr nocapture noundef %0, ptr noundef %1, ptr noundef %2) unnamed_addr #0 {
  %4 = alloca %struct.argument, align 8
  %5 = load ptr, ptr %0, align 8
  %6 = getelementptr inbounds %struct.plan_code, ptr %5, i64 0, i32 6
  %7 = load i32, ptr %6, align 8
  %8 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 5
  store ptr %1, ptr %8, align 8
  %9 = zext i32 %7 to i64
  %10 = mul nuw nsw i64 %9, 48
  %11 = add nuw nsw i64 %10, 63
  %12 = and i64 %11, 549755813824
  %13 = getelementptr inbounds i8, ptr %1, i64 %12
  %14 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 6
  store ptr %13, ptr %14, align 8
  %15 = shl nuw nsw i64 %9, 4
  %16 = add nuw nsw i64 %15, 63
  %17 = and i64 %16, 137438953408
  %18 = getelementptr inbounds i8, ptr %13, i64 %17
  %19 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 7
  store ptr %18, ptr %19, align 8
  %20 = icmp eq ptr %2, null
  br i1 %20, label %27, label %21

21:                                               ; preds = %3
  %22 = load i32, ptr %2, align 8
  %23 = zext i32 %22 to i64
  %24 = mul nuw nsw i64 %23, 48
  %25 = add nuw nsw i64 %24, 111
  %26 = and i64 %25, 549755813824
  br label %27

27:                                               ; preds = %21, %3
  %28 = phi i64 [ %26, %21 ], [ 128, %3 ]
  %29 = getelementptr inbounds i8, ptr %18, i64 %28
  %30 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 3
  store ptr %29, ptr %30, align 8
  %31 = getelementptr inbounds %struct.plan_code, ptr %5, i64 0, i32 8
  %32 = load i64, ptr %31, align 8
  %33 = add nsw i64 %32, 63
  %34 = sdiv i64 %33, 64
  %35 = shl nsw i64 %34, 6
  %36 = getelementptr inbounds i8, ptr %29, i64 %35
  %37 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 4
  store ptr %36, ptr %37, align 8
  %38 = getelementptr inbounds %struct.plan_code, ptr %5, i64 0, i32 9
  %39 = load i64, ptr %38, align 8
  %40 = add nsw i64 %39, 63
  %41 = sdiv i64 %40, 64
  %42 = shl nsw i64 %41, 6
  %43 = getelementptr inbounds i8, ptr %36, i64 %42
  %44 = getelementptr inbounds %struct.context, ptr %18, i64 1
  %45 = getelementptr inbounds %struct.plan_code, ptr %5, i64 0, i32 10
  %46 = load i64, ptr %45, align 8
  %47 = add nsw i64 %46, 63
  %48 = sdiv i64 %47, 64
  %49 = shl nsw i64 %48, 6
  store ptr %36, ptr %18, align 8
  %50 = getelementptr inbounds i8, ptr %18, i64 8
  store ptr %43, ptr %50, align 8
  %51 = getelementptr inbounds i8, ptr %18, i64 16
  store ptr %43, ptr %51, align 8
  %52 = getelementptr inbounds i8, ptr %18, i64 24
  store ptr %44, ptr %52, align 8
  %53 = getelementptr inbounds i8, ptr %18, i64 32
  store i64 %49, ptr %53, align 8
  %54 = getelementptr inbounds i8, ptr %18, i64 40
  store ptr %2, ptr %54, align 8
  %55 = icmp eq i32 %7, 0
  br i1 %55, label %71, label %56

56:                                               ; preds = %27, %56
  %57 = phi i64 [ %69, %56 ], [ 0, %27 ]
  %58 = load ptr, ptr %8, align 8
  %59 = getelementptr inbounds %struct.tensor, ptr %58, i64 %57
  store ptr null, ptr %59, align 8
  %60 = getelementptr inbounds i8, ptr %59, i64 8
  store i32 1, ptr %60, align 8
  %61 = getelementptr inbounds i8, ptr %59, i64 12
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(10) %61, i8 0, i64 10, i1 false)
  %62 = getelementptr inbounds i8, ptr %59, i64 22
  store i16 1, ptr %62, align 2
  %63 = getelementptr inbounds i8, ptr %59, i64 24
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(24) %63, i8 0, i64 24, i1 false)
  %64 = load ptr, ptr %14, align 8
  %65 = getelementptr inbounds %struct.argument, ptr %64, i64 %57
  %66 = load ptr, ptr %8, align 8
  %67 = getelementptr inbounds %struct.tensor, ptr %66, i64 %57
  store <2 x i32> <i32 7, i32 0>, ptr %65, align 8
  %68 = getelementptr inbounds i8, ptr %65, i64 8
  store ptr %67, ptr %68, align 8
  %69 = add nuw nsw i64 %57, 1
  %70 = icmp eq i64 %69, %9
  br i1 %70, label %71, label %56, !llvm.loop !28

71:                                               ; preds = %56, %27
  %72 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %73 = load ptr, ptr %72, align 8
  %74 = load ptr, ptr %19, align 8
  store ptr %74, ptr %72, align 8
  %75 = load ptr, ptr %0, align 8
  %76 = getelementptr inbounds %struct.plan_code, ptr %75, i64 0, i32 2
  %77 = load i32, ptr %76, align 8
  %78 = zext i32 %77 to i64
  %79 = getelementptr inbounds i8, ptr @model_plan, i64 %78
  %80 = getelementptr inbounds %struct.plan_code, ptr %75, i64 0, i32 3
  %81 = load i32, ptr %80, align 4
  %82 = zext i32 %81 to i64
  %83 = getelementptr inbounds i32, ptr %79, i64 %82
  %84 = icmp eq i32 %81, 0
  br i1 %84, label %356, label %85

85:                                               ; preds = %71
  %86 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %87 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 2
  %88 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 1
  %89 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 8
  %90 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 9
  br label %91

91:                                               ; preds = %354, %85
  %92 = phi i32 [ 0, %85 ], [ %236, %354 ]
  %93 = phi ptr [ %79, %85 ], [ %235, %354 ]
  %94 = load i32, ptr %93, align 4
  %95 = icmp eq i32 %94, 0
  %96 = getelementptr inbounds i32, ptr %93, i64 1
  %97 = load ptr, ptr %0, align 8
  br i1 %95, label %98, label %177

98:                                               ; preds = %91
  %99 = getelementptr inbounds %struct.plan_code, ptr %97, i64 0, i32 5
  %100 = load i32, ptr %99, align 4
  %101 = zext i32 %100 to i64
  %102 = getelementptr inbounds i8, ptr @model_plan, i64 %101
  %103 = load i32, ptr %96, align 4
  %104 = zext i32 %103 to i64
  %105 = getelementptr inbounds i32, ptr %102, i64 %104
  %106 = getelementptr inbounds %struct.plan_code, ptr %97, i64 0, i32 4
  %107 = load i32, ptr %106, align 8
  %108 = zext i32 %107 to i64
  %109 = getelementptr inbounds i8, ptr @model_plan, i64 %108
  %110 = load i32, ptr %105, align 4
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %4) #15
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %4, i8 0, i64 16, i1 false)
  %111 = getelementptr inbounds i32, ptr %93, i64 2
  %112 = load i32, ptr %111, align 4
  %113 = icmp eq i32 %112, 0
  br i1 %113, label %166, label %114

114:                                              ; preds = %98
  %115 = zext i32 %112 to i64
  br label %116

116:                                              ; preds = %142, %114
  %117 = phi i64 [ 0, %114 ], [ %164, %142 ]
  %118 = add nuw nsw i64 %117, 2
  %119 = and i64 %118, 4294967295
  %120 = getelementptr inbounds i32, ptr %96, i64 %119
  %121 = load i32, ptr %120, align 4
  %122 = zext i32 %121 to i64
  %123 = getelementptr inbounds %struct.plan_place, ptr %109, i64 %122
  %124 = load ptr, ptr %8, align 8
  %125 = getelementptr inbounds %struct.tensor, ptr %124, i64 %117
  %126 = load i32, ptr %123, align 8
  switch i32 %126, label %127 [
    i32 0, label %142
    i32 1, label %139
  ]

127:                                              ; preds = %116
  %128 = add i32 %126, -2
  %129 = icmp ult i32 %128, %86
  br i1 %129, label %130, label %134

130:                                              ; preds = %127
  %131 = load ptr, ptr %88, align 8
  %132 = zext i32 %128 to i64
  %133 = getelementptr inbounds %struct.model_buffer, ptr %131, i64 %132
  br label %139

134:                                              ; preds = %127
  %135 = load ptr, ptr %87, align 8
  %136 = sub i32 %128, %86
  %137 = zext i32 %136 to i64
  %138 = getelementptr inbounds %struct.model_buffer, ptr %135, i64 %137
  br label %139

139:                                              ; preds = %134, %130, %116
  %140 = phi ptr [ %138, %134 ], [ %133, %130 ], [ %30, %116 ]
  %141 = load ptr, ptr %140, align 8
  br label %142

142:                                              ; preds = %139, %116
  %143 = phi ptr [ @model_plan, %116 ], [ %141, %139 ]
  %144 = getelementptr inbounds %struct.plan_place, ptr %123, i64 0, i32 6
  %145 = load i64, ptr %144, align 8
  %146 = getelementptr inbounds i8, ptr %143, i64 %145
  store ptr %146, ptr %125, align 8
  %147 = getelementptr inbounds %struct.plan_place, ptr %109, i64 %122, i32 1
  %148 = load i32, ptr %147, align 4
  %149 = getelementptr inbounds %struct.tensor, ptr %124, i64 %117, i32 3
  store i32 %148, ptr %149, align 8
  %150 = getelementptr inbounds %struct.plan_place, ptr %109, i64 %122, i32 2
  %151 = load i8, ptr %150, align 8
  %152 = getelementptr inbounds %struct.tensor, ptr %124, i64 %117, i32 4
  store i8 %151, ptr %152, align 4
  %153 = getelementptr inbounds %struct.plan_place, ptr %109, i64 %122, i32 3
  %154 = load i8, ptr %153, align 1
  %155 = getelementptr inbounds %struct.tensor, ptr %124, i64 %117, i32 5
  store i8 %154, ptr %155, align 1
  %156 = getelementptr inbounds %struct.plan_place, ptr %109, i64 %122, i32 4
  %157 = load i16, ptr %156, align 2
  %158 = getelementptr inbounds %struct.tensor, ptr %124, i64 %117, i32 6
  store i16 %157, ptr %158, align 2
  %159 = getelementptr inbounds %struct.plan_place, ptr %109, i64 %122, i32 5
  %160 = load i32, ptr %159, align 4
  %161 = zext i32 %160 to i64
  %162 = getelementptr inbounds i8, ptr @model_plan, i64 %161
  %163 = getelementptr inbounds %struct.tensor, ptr %124, i64 %117, i32 7
  store ptr %162, ptr %163, align 8
  %164 = add nuw nsw i64 %117, 1
  %165 = icmp eq i64 %164, %115
  br i1 %165, label %166, label %116, !llvm.loop !29

166:                                              ; preds = %142, %98
  %167 = sext i32 %110 to i64
  %168 = getelementptr inbounds i8, ptr %105, i64 %167
  %169 = load ptr, ptr %37, align 8
  %170 = load ptr, ptr %19, align 8
  store ptr %169, ptr %170, align 8
  %171 = load ptr, ptr %14, align 8
  %172 = call i32 %168(ptr noundef null, ptr noundef %171, i32 noundef %112, ptr noundef nonnull %4) #14
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %4) #15
  %173 = icmp eq i32 %172, 0
  br i1 %173, label %174, label %356

174:                                              ; preds = %166
  %175 = add i32 %112, 3
  %176 = zext i32 %175 to i64
  br label %233

177:                                              ; preds = %91
  %178 = getelementptr inbounds %struct.plan_code, ptr %97, i64 0, i32 4
  %179 = load i32, ptr %178, align 8
  %180 = zext i32 %179 to i64
  %181 = getelementptr inbounds i8, ptr @model_plan, i64 %180
  %182 = getelementptr inbounds i32, ptr %93, i64 2
  %183 = load i32, ptr %182, align 4
  %184 = zext i32 %183 to i64
  %185 = getelementptr inbounds %struct.plan_place, ptr %181, i64 %184
  %186 = load i32, ptr %185, align 8
  switch i32 %186, label %187 [
    i32 0, label %202
    i32 1, label %199
  ]

187:                                              ; preds = %177
  %188 = add i32 %186, -2
  %189 = icmp ult i32 %188, %86
  br i1 %189, label %190, label %194

190:                                              ; preds = %187
  %191 = load ptr, ptr %88, align 8
  %192 = zext i32 %188 to i64
  %193 = getelementptr inbounds %struct.model_buffer, ptr %191, i64 %192
  br label %199

194:                                              ; preds = %187
  %195 = load ptr, ptr %87, align 8
  %196 = sub i32 %188, %86
  %197 = zext i32 %196 to i64
  %198 = getelementptr inbounds %struct.model_buffer, ptr %195, i64 %197
  br label %199

199:                                              ; preds = %194, %190, %177
  %200 = phi ptr [ %198, %194 ], [ %193, %190 ], [ %30, %177 ]
  %201 = load ptr, ptr %200, align 8
  br label %202

202:                                              ; preds = %199, %177
  %203 = phi ptr [ @model_plan, %177 ], [ %201, %199 ]
  %204 = getelementptr inbounds %struct.plan_place, ptr %185, i64 0, i32 6
  %205 = load i64, ptr %204, align 8
  %206 = load i32, ptr %96, align 4
  %207 = zext i32 %206 to i64
  %208 = getelementptr inbounds %struct.plan_place, ptr %181, i64 %207
  %209 = load i32, ptr %208, align 8
  switch i32 %209, label %210 [
    i32 0, label %225
    i32 1, label %222
  ]

210:                                              ; preds = %202
  %211 = add i32 %209, -2
  %212 = icmp ult i32 %211, %86
  br i1 %212, label %213, label %217

213:                                              ; preds = %210
  %214 = load ptr, ptr %88, align 8
  %215 = zext i32 %211 to i64
  %216 = getelementptr inbounds %struct.model_buffer, ptr %214, i64 %215
  br label %222

217:                                              ; preds = %210
  %218 = load ptr, ptr %87, align 8
  %219 = sub i32 %211, %86
  %220 = zext i32 %219 to i64
  %221 = getelementptr inbounds %struct.model_buffer, ptr %218, i64 %220
  br label %222

222:                                              ; preds = %217, %213, %202
  %223 = phi ptr [ %221, %217 ], [ %216, %213 ], [ %30, %202 ]
  %224 = load ptr, ptr %223, align 8
  br label %225

225:                                              ; preds = %222, %202
  %226 = phi ptr [ @model_plan, %202 ], [ %224, %222 ]
  %227 = getelementptr inbounds i8, ptr %203, i64 %205
  %228 = getelementptr inbounds %struct.plan_place, ptr %208, i64 0, i32 6
  %229 = load i64, ptr %228, align 8
  %230 = getelementptr inbounds i8, ptr %226, i64 %229
  %231 = getelementptr inbounds %struct.plan_place, ptr %181, i64 %207, i32 7
  %232 = load i64, ptr %231, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %227, ptr align 1 %230, i64 %232, i1 false)
  br label %233

233:                                              ; preds = %225, %174
  %234 = phi i64 [ 3, %225 ], [ %176, %174 ]
  %235 = getelementptr inbounds i32, ptr %93, i64 %234
  %236 = add i32 %92, 1
  %237 = load ptr, ptr %90, align 8
  %238 = load ptr, ptr %89, align 8
  %239 = icmp ult ptr %238, %237
  br i1 %239, label %240, label %354

240:                                              ; preds = %233, %351
  %241 = phi ptr [ %352, %351 ], [ %238, %233 ]
  %242 = load i32, ptr %241, align 8
  %243 = icmp eq i32 %242, %236
  br i1 %243, label %244, label %354

244:                                              ; preds = %240
  %245 = load ptr, ptr %0, align 8
  %246 = getelementptr inbounds %struct.plan_code, ptr %245, i64 0, i32 4
  %247 = load i32, ptr %246, align 8
  %248 = zext i32 %247 to i64
  %249 = getelementptr inbounds i8, ptr @model_plan, i64 %248
  %250 = getelementptr inbounds %struct.plan_golden, ptr %241, i64 0, i32 1
  %251 = load i32, ptr %250, align 4
  %252 = zext i32 %251 to i64
  %253 = getelementptr inbounds %struct.plan_place, ptr %249, i64 %252
  %254 = load i32, ptr %253, align 8
  switch i32 %254, label %255 [
    i32 0, label %270
    i32 1, label %267
  ]

255:                                              ; preds = %244
  %256 = add i32 %254, -2
  %257 = icmp ult i32 %256, %86
  br i1 %257, label %258, label %262

258:                                              ; preds = %255
  %259 = load ptr, ptr %88, align 8
  %260 = zext i32 %256 to i64
  %261 = getelementptr inbounds %struct.model_buffer, ptr %259, i64 %260
  br label %267

262:                                              ; preds = %255
  %263 = load ptr, ptr %87, align 8
  %264 = sub i32 %256, %86
  %265 = zext i32 %264 to i64
  %266 = getelementptr inbounds %struct.model_buffer, ptr %263, i64 %265
  br label %267

267:                                              ; preds = %262, %258, %244
  %268 = phi ptr [ %266, %262 ], [ %261, %258 ], [ %30, %244 ]
  %269 = load ptr, ptr %268, align 8
  br label %270

270:                                              ; preds = %267, %244
  %271 = phi ptr [ @model_plan, %244 ], [ %269, %267 ]
  %272 = getelementptr inbounds %struct.plan_place, ptr %253, i64 0, i32 6
  %273 = load i64, ptr %272, align 8
  %274 = getelementptr inbounds i8, ptr %271, i64 %273
  %275 = getelementptr inbounds %struct.plan_place, ptr %249, i64 %252, i32 7
  %276 = load i64, ptr %275, align 8
  %277 = icmp sgt i64 %276, 0
  br i1 %277, label %278, label %342

278:                                              ; preds = %270
  %279 = icmp eq i64 %276, 1
  br i1 %279, label %320, label %280

280:                                              ; preds = %278
  %281 = and i64 %276, -2
  br label %282

282:                                              ; preds = %282, %280
  %283 = phi i64 [ 0, %280 ], [ %315, %282 ]
  %284 = phi i64 [ 0, %280 ], [ %313, %282 ]
  %285 = phi i64 [ 0, %280 ], [ %314, %282 ]
  %286 = or i64 %283, 1
  %287 = getelementptr inbounds i8, ptr %274, i64 %283
  %288 = getelementptr inbounds i8, ptr %274, i64 %286
  %289 = load i8, ptr %287, align 1
  %290 = load i8, ptr %288, align 1
  %291 = zext i8 %289 to i64
  %292 = zext i8 %290 to i64
  %293 = add nuw nsw i64 %291, 1
  %294 = add nuw nsw i64 %292, 1
  %295 = mul i64 %283, -7046029254386353131
  %296 = mul i64 %286, -7046029254386353131
  %297 = add i64 %295, -7046029254386353131
  %298 = add i64 %296, -7046029254386353131
  %299 = lshr i64 %297, 29
  %300 = lshr i64 %298, 29
  %301 = xor i64 %299, %297
  %302 = xor i64 %300, %298
  %303 = mul i64 %301, -4658895280553007687
  %304 = mul i64 %302, -4658895280553007687
  %305 = lshr i64 %303, 32
  %306 = lshr i64 %304, 32
  %307 = xor i64 %305, %303
  %308 = xor i64 %306, %304
  %309 = or i64 %307, 1
  %310 = or i64 %308, 1
  %311 = mul i64 %309, %293
  %312 = mul i64 %310, %294
  %313 = add i64 %311, %284
  %314 = add i64 %312, %285
  %315 = add nuw i64 %283, 2
  %316 = icmp eq i64 %315, %281
  br i1 %316, label %317, label %282, !llvm.loop !30

317:                                              ; preds = %282
  %318 = add i64 %314, %313
  %319 = icmp eq i64 %276, %281
  br i1 %319, label %342, label %320

320:                                              ; preds = %278, %317
  %321 = phi i64 [ 0, %278 ], [ %281, %317 ]
  %322 = phi i64 [ 0, %278 ], [ %318, %317 ]
  br label %323

323:                                              ; preds = %320, %323
  %324 = phi i64 [ %340, %323 ], [ %321, %320 ]
  %325 = phi i64 [ %339, %323 ], [ %322, %320 ]
  %326 = getelementptr inbounds i8, ptr %274, i64 %324
  %327 = load i8, ptr %326, align 1
  %328 = zext i8 %327 to i64
  %329 = add nuw nsw i64 %328, 1
  %330 = mul i64 %324, -7046029254386353131
  %331 = add i64 %330, -7046029254386353131
  %332 = lshr i64 %331, 29
  %333 = xor i64 %332, %331
  %334 = mul i64 %333, -4658895280553007687
  %335 = lshr i64 %334, 32
  %336 = xor i64 %335, %334
  %337 = or i64 %336, 1
  %338 = mul i64 %337, %329
  %339 = add i64 %338, %325
  %340 = add nuw nsw i64 %324, 1
  %341 = icmp eq i64 %340, %276
  br i1 %341, label %342, label %323, !llvm.loop !31

342:                                              ; preds = %323, %317, %270
  %343 = phi i64 [ 0, %270 ], [ %318, %317 ], [ %339, %323 ]
  %344 = getelementptr inbounds %struct.plan_golden, ptr %241, i64 0, i32 4
  %345 = load i64, ptr %344, align 8
  %346 = icmp eq i64 %343, %345
  br i1 %346, label %351, label %347

347:                                              ; preds = %342
  %348 = getelementptr inbounds %struct.plan_golden, ptr %241, i64 0, i32 4, i64 1
  %349 = load i64, ptr %348, align 8
  %350 = icmp eq i64 %343, %349
  br i1 %350, label %351, label %356

351:                                              ; preds = %347, %342
  %352 = getelementptr inbounds %struct.plan_golden, ptr %241, i64 1
  store ptr %352, ptr %89, align 8
  %353 = icmp ult ptr %352, %237
  br i1 %353, label %240, label %354, !llvm.loop !32

354:                                              ; preds = %351, %240, %233
  %355 = icmp ult ptr %235, %83
  br i1 %355, label %91, label %356, !llvm.loop !33

356:                                              ; preds = %166, %354, %347, %71
  %357 = phi i32 [ 0, %71 ], [ -13, %347 ], [ 0, %354 ], [ -10, %166 ]
  store ptr %73, ptr %72, align 8
  ret i32 %357
}

; Function Attrs: nofree norecurse nounwind memory(readwrite, argmem: read, inaccessiblemem: none)
define i64 @model_selftest_bytes() local_unnamed_addr #11 {
  %1 = load atomic i32, ptr @chosen acquire, align 4
  %2 = icmp eq i32 %1, 0
  %3 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %4 = zext i32 %3 to i64
  %5 = getelementptr inbounds i8, ptr @model_plan, i64 %4
  %6 = add i32 %1, -1
  %7 = zext i32 %6 to i64
  %8 = getelementptr inbounds %struct.plan_code, ptr %5, i64 %7
  %9 = select i1 %2, ptr null, ptr %8
  br i1 %2, label %162, label %10

10:                                               ; preds = %0
  %11 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %12 = zext i32 %11 to i64
  %13 = getelementptr inbounds i8, ptr @model_plan, i64 %12
  %14 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 5), align 4
  %15 = zext i32 %14 to i64
  %16 = getelementptr inbounds i8, ptr @model_plan, i64 %15
  %17 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %18 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %19 = add i32 %18, %17
  %20 = zext i32 %19 to i64
  %21 = shl nuw nsw i64 %20, 4
  %22 = add nuw nsw i64 %21, 63
  %23 = and i64 %22, 137438953408
  %24 = icmp eq i32 %17, 0
  br i1 %24, label %27, label %25

25:                                               ; preds = %10
  %26 = zext i32 %17 to i64
  br label %32

27:                                               ; preds = %74, %10
  %28 = phi i64 [ %23, %10 ], [ %79, %74 ]
  %29 = icmp eq i32 %18, 0
  br i1 %29, label %132, label %30

30:                                               ; preds = %27
  %31 = zext i32 %18 to i64
  br label %82

32:                                               ; preds = %74, %25
  %33 = phi i64 [ 0, %25 ], [ %80, %74 ]
  %34 = phi i64 [ %23, %25 ], [ %79, %74 ]
  %35 = getelementptr inbounds %struct.plan_tensor, ptr %13, i64 %33
  %36 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 0, i32 4
  %37 = load i32, ptr %36, align 8
  %38 = zext i32 %37 to i64
  %39 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 0, i32 2
  %40 = load i32, ptr %39, align 8
  %41 = icmp eq i32 %40, 0
  br i1 %41, label %74, label %42

42:                                               ; preds = %32
  %43 = zext i32 %40 to i64
  %44 = icmp eq i32 %40, 1
  br i1 %44, label %63, label %45

45:                                               ; preds = %42
  %46 = and i64 %43, 4294967294
  br label %47

47:                                               ; preds = %47, %45
  %48 = phi i64 [ 0, %45 ], [ %58, %47 ]
  %49 = phi i64 [ %38, %45 ], [ %56, %47 ]
  %50 = phi i64 [ 1, %45 ], [ %57, %47 ]
  %51 = or i64 %48, 1
  %52 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 0, i32 8, i64 %48
  %53 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 0, i32 8, i64 %51
  %54 = load i64, ptr %52, align 8
  %55 = load i64, ptr %53, align 8
  %56 = mul i64 %54, %49
  %57 = mul i64 %55, %50
  %58 = add nuw i64 %48, 2
  %59 = icmp eq i64 %58, %46
  br i1 %59, label %60, label %47, !llvm.loop !34

60:                                               ; preds = %47
  %61 = mul i64 %57, %56
  %62 = icmp eq i64 %46, %43
  br i1 %62, label %74, label %63

63:                                               ; preds = %42, %60
  %64 = phi i64 [ 0, %42 ], [ %46, %60 ]
  %65 = phi i64 [ %38, %42 ], [ %61, %60 ]
  br label %66

66:                                               ; preds = %63, %66
  %67 = phi i64 [ %72, %66 ], [ %64, %63 ]
  %68 = phi i64 [ %71, %66 ], [ %65, %63 ]
  %69 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 0, i32 8, i64 %67
  %70 = load i64, ptr %69, align 8
  %71 = mul nsw i64 %70, %68
  %72 = add nuw nsw i64 %67, 1
  %73 = icmp eq i64 %72, %43
  br i1 %73, label %74, label %66, !llvm.loop !35

74:                                               ; preds = %66, %60, %32
  %75 = phi i64 [ %38, %32 ], [ %61, %60 ], [ %71, %66 ]
  %76 = add nsw i64 %75, 63
  %77 = sdiv i64 %76, 64
  %78 = shl nsw i64 %77, 6
  %79 = add nsw i64 %78, %34
  %80 = add nuw nsw i64 %33, 1
  %81 = icmp eq i64 %80, %26
  br i1 %81, label %27, label %32, !llvm.loop !36

82:                                               ; preds = %124, %30
  %83 = phi i64 [ 0, %30 ], [ %130, %124 ]
  %84 = phi i64 [ %28, %30 ], [ %129, %124 ]
  %85 = getelementptr inbounds %struct.plan_tensor, ptr %16, i64 %83
  %86 = getelementptr inbounds %struct.plan_tensor, ptr %85, i64 0, i32 4
  %87 = load i32, ptr %86, align 8
  %88 = zext i32 %87 to i64
  %89 = getelementptr inbounds %struct.plan_tensor, ptr %85, i64 0, i32 2
  %90 = load i32, ptr %89, align 8
  %91 = icmp eq i32 %90, 0
  br i1 %91, label %124, label %92

92:                                               ; preds = %82
  %93 = zext i32 %90 to i64
  %94 = icmp eq i32 %90, 1
  br i1 %94, label %113, label %95

95:                                               ; preds = %92
  %96 = and i64 %93, 4294967294
  br label %97

97:                                               ; preds = %97, %95
  %98 = phi i64 [ 0, %95 ], [ %108, %97 ]
  %99 = phi i64 [ %88, %95 ], [ %106, %97 ]
  %100 = phi i64 [ 1, %95 ], [ %107, %97 ]
  %101 = or i64 %98, 1
  %102 = getelementptr inbounds %struct.plan_tensor, ptr %85, i64 0, i32 8, i64 %98
  %103 = getelementptr inbounds %struct.plan_tensor, ptr %85, i64 0, i32 8, i64 %101
  %104 = load i64, ptr %102, align 8
  %105 = load i64, ptr %103, align 8
  %106 = mul i64 %104, %99
  %107 = mul i64 %105, %100
  %108 = add nuw i64 %98, 2
  %109 = icmp eq i64 %108, %96
  br i1 %109, label %110, label %97, !llvm.loop !37

110:                                              ; preds = %97
  %111 = mul i64 %107, %106
  %112 = icmp eq i64 %96, %93
  br i1 %112, label %124, label %113

113:                                              ; preds = %92, %110
  %114 = phi i64 [ 0, %92 ], [ %96, %110 ]
  %115 = phi i64 [ %88, %92 ], [ %111, %110 ]
  br label %116

116:                                              ; preds = %113, %116
  %117 = phi i64 [ %122, %116 ], [ %114, %113 ]
  %118 = phi i64 [ %121, %116 ], [ %115, %113 ]
  %119 = getelementptr inbounds %struct.plan_tensor, ptr %85, i64 0, i32 8, i64 %117
  %120 = load i64, ptr %119, align 8
  %121 = mul nsw i64 %120, %118
  %122 = add nuw nsw i64 %117, 1
  %123 = icmp eq i64 %122, %93
  br i1 %123, label %124, label %116, !llvm.loop !38

124:                                              ; preds = %116, %110, %82
  %125 = phi i64 [ %88, %82 ], [ %111, %110 ], [ %121, %116 ]
  %126 = add nsw i64 %125, 63
  %127 = sdiv i64 %126, 64
  %128 = shl nsw i64 %127, 6
  %129 = add nsw i64 %128, %84
  %130 = add nuw nsw i64 %83, 1
  %131 = icmp eq i64 %130, %31
  br i1 %131, label %132, label %82, !llvm.loop !39

132:                                              ; preds = %124, %27
  %133 = phi i64 [ %28, %27 ], [ %129, %124 ]
  %134 = getelementptr inbounds %struct.plan_code, ptr %9, i64 0, i32 6
  %135 = load i32, ptr %134, align 8
  %136 = zext i32 %135 to i64
  %137 = mul nuw nsw i64 %136, 48
  %138 = add nuw nsw i64 %137, 63
  %139 = and i64 %138, 549755813824
  %140 = shl nuw nsw i64 %136, 4
  %141 = add nuw nsw i64 %140, 63
  %142 = and i64 %141, 137438953408
  %143 = getelementptr inbounds %struct.plan_code, ptr %9, i64 0, i32 8
  %144 = load i64, ptr %143, align 8
  %145 = add nsw i64 %144, 63
  %146 = sdiv i64 %145, 64
  %147 = getelementptr inbounds %struct.plan_code, ptr %9, i64 0, i32 9
  %148 = load i64, ptr %147, align 8
  %149 = add nsw i64 %148, 63
  %150 = sdiv i64 %149, 64
  %151 = getelementptr inbounds %struct.plan_code, ptr %9, i64 0, i32 10
  %152 = load i64, ptr %151, align 8
  %153 = add nsw i64 %152, 63
  %154 = sdiv i64 %153, 64
  %155 = add nsw i64 %150, %146
  %156 = add nsw i64 %155, %154
  %157 = shl i64 %156, 6
  %158 = add i64 %133, 128
  %159 = add i64 %158, %142
  %160 = add i64 %159, %139
  %161 = add i64 %160, %157
  br label %162

162:                                              ; preds = %0, %132
  %163 = phi i64 [ %161, %132 ], [ -8, %0 ]
  ret i64 %163
}

; Function Attrs: nounwind
define i32 @model_selftest([2 x i64] %0, ptr noundef writeonly %1) local_unnamed_addr #0 {
  %3 = alloca %struct.run, align 8
  %4 = extractvalue [2 x i64] %0, 0
  %5 = inttoptr i64 %4 to ptr
  %6 = extractvalue [2 x i64] %0, 1
  %7 = load atomic i32, ptr @chosen acquire, align 4
  %8 = icmp eq i32 %7, 0
  %9 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %10 = zext i32 %9 to i64
  %11 = getelementptr inbounds i8, ptr @model_plan, i64 %10
  %12 = add i32 %7, -1
  %13 = zext i32 %12 to i64
  %14 = getelementptr inbounds %struct.plan_code, ptr %11, i64 %13
  %15 = select i1 %8, ptr null, ptr %14
  br i1 %8, label %374, label %16

16:                                               ; preds = %2
  %17 = icmp eq i64 %4, 0
  br i1 %17, label %374, label %18

18:                                               ; preds = %16
  %19 = and i64 %4, 63
  %20 = icmp eq i64 %19, 0
  br i1 %20, label %21, label %374

21:                                               ; preds = %18
  %22 = tail call i64 @model_selftest_bytes() #17
  %23 = icmp ult i64 %6, %22
  br i1 %23, label %374, label %24

24:                                               ; preds = %21
  %25 = getelementptr inbounds %struct.plan_code, ptr %15, i64 0, i32 12
  %26 = load i32, ptr %25, align 4
  %27 = icmp eq i32 %26, 0
  br i1 %27, label %374, label %28

28:                                               ; preds = %24
  %29 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %30 = zext i32 %29 to i64
  %31 = getelementptr inbounds i8, ptr @model_plan, i64 %30
  %32 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 5), align 4
  %33 = zext i32 %32 to i64
  %34 = getelementptr inbounds i8, ptr @model_plan, i64 %33
  %35 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %36 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %37 = add i32 %36, %35
  %38 = zext i32 %37 to i64
  %39 = shl nuw nsw i64 %38, 4
  %40 = add nuw nsw i64 %39, 63
  %41 = and i64 %40, 137438953408
  %42 = icmp eq i32 %35, 0
  br i1 %42, label %45, label %43

43:                                               ; preds = %28
  %44 = zext i32 %35 to i64
  br label %50

45:                                               ; preds = %92, %28
  %46 = phi i64 [ %41, %28 ], [ %97, %92 ]
  %47 = icmp eq i32 %36, 0
  br i1 %47, label %150, label %48

48:                                               ; preds = %45
  %49 = zext i32 %36 to i64
  br label %100

50:                                               ; preds = %92, %43
  %51 = phi i64 [ 0, %43 ], [ %98, %92 ]
  %52 = phi i64 [ %41, %43 ], [ %97, %92 ]
  %53 = getelementptr inbounds %struct.plan_tensor, ptr %31, i64 %51
  %54 = getelementptr inbounds %struct.plan_tensor, ptr %53, i64 0, i32 4
  %55 = load i32, ptr %54, align 8
  %56 = zext i32 %55 to i64
  %57 = getelementptr inbounds %struct.plan_tensor, ptr %53, i64 0, i32 2
  %58 = load i32, ptr %57, align 8
  %59 = icmp eq i32 %58, 0
  br i1 %59, label %92, label %60

60:                                               ; preds = %50
  %61 = zext i32 %58 to i64
  %62 = icmp eq i32 %58, 1
  br i1 %62, label %81, label %63

63:                                               ; preds = %60
  %64 = and i64 %61, 4294967294
  br label %65

65:                                               ; preds = %65, %63
  %66 = phi i64 [ 0, %63 ], [ %76, %65 ]
  %67 = phi i64 [ %56, %63 ], [ %74, %65 ]
  %68 = phi i64 [ 1, %63 ], [ %75, %65 ]
  %69 = or i64 %66, 1
  %70 = getelementptr inbounds %struct.plan_tensor, ptr %53, i64 0, i32 8, i64 %66
  %71 = getelementptr inbounds %struct.plan_tensor, ptr %53, i64 0, i32 8, i64 %69
  %72 = load i64, ptr %70, align 8
  %73 = load i64, ptr %71, align 8
  %74 = mul i64 %72, %67
  %75 = mul i64 %73, %68
  %76 = add nuw i64 %66, 2
  %77 = icmp eq i64 %76, %64
  br i1 %77, label %78, label %65, !llvm.loop !40

78:                                               ; preds = %65
  %79 = mul i64 %75, %74
  %80 = icmp eq i64 %64, %61
  br i1 %80, label %92, label %81

81:                                               ; preds = %60, %78
  %82 = phi i64 [ 0, %60 ], [ %64, %78 ]
  %83 = phi i64 [ %56, %60 ], [ %79, %78 ]
  br label %84

84:                                               ; preds = %81, %84
  %85 = phi i64 [ %90, %84 ], [ %82, %81 ]
  %86 = phi i64 [ %89, %84 ], [ %83, %81 ]
  %87 = getelementptr inbounds %struct.plan_tensor, ptr %53, i64 0, i32 8, i64 %85
  %88 = load i64, ptr %87, align 8
  %89 = mul nsw i64 %88, %86
  %90 = add nuw nsw i64 %85, 1
  %91 = icmp eq i64 %90, %61
  br i1 %91, label %92, label %84, !llvm.loop !41

92:                                               ; preds = %84, %78, %50
  %93 = phi i64 [ %56, %50 ], [ %79, %78 ], [ %89, %84 ]
  %94 = add nsw i64 %93, 63
  %95 = sdiv i64 %94, 64
  %96 = shl nsw i64 %95, 6
  %97 = add nsw i64 %96, %52
  %98 = add nuw nsw i64 %51, 1
  %99 = icmp eq i64 %98, %44
  br i1 %99, label %45, label %50, !llvm.loop !36

100:                                              ; preds = %142, %48
  %101 = phi i64 [ 0, %48 ], [ %148, %142 ]
  %102 = phi i64 [ %46, %48 ], [ %147, %142 ]
  %103 = getelementptr inbounds %struct.plan_tensor, ptr %34, i64 %101
  %104 = getelementptr inbounds %struct.plan_tensor, ptr %103, i64 0, i32 4
  %105 = load i32, ptr %104, align 8
  %106 = zext i32 %105 to i64
  %107 = getelementptr inbounds %struct.plan_tensor, ptr %103, i64 0, i32 2
  %108 = load i32, ptr %107, align 8
  %109 = icmp eq i32 %108, 0
  br i1 %109, label %142, label %110

110:                                              ; preds = %100
  %111 = zext i32 %108 to i64
  %112 = icmp eq i32 %108, 1
  br i1 %112, label %131, label %113

113:                                              ; preds = %110
  %114 = and i64 %111, 4294967294
  br label %115

115:                                              ; preds = %115, %113
  %116 = phi i64 [ 0, %113 ], [ %126, %115 ]
  %117 = phi i64 [ %106, %113 ], [ %124, %115 ]
  %118 = phi i64 [ 1, %113 ], [ %125, %115 ]
  %119 = or i64 %116, 1
  %120 = getelementptr inbounds %struct.plan_tensor, ptr %103, i64 0, i32 8, i64 %116
  %121 = getelementptr inbounds %struct.plan_tensor, ptr %103, i64 0, i32 8, i64 %119
  %122 = load i64, ptr %120, align 8
  %123 = load i64, ptr %121, align 8
  %124 = mul i64 %122, %117
  %125 = mul i64 %123, %118
  %126 = add nuw i64 %116, 2
  %127 = icmp eq i64 %126, %114
  br i1 %127, label %128, label %115, !llvm.loop !42

128:                                              ; preds = %115
  %129 = mul i64 %125, %124
  %130 = icmp eq i64 %114, %111
  br i1 %130, label %142, label %131

131:                                              ; preds = %110, %128
  %132 = phi i64 [ 0, %110 ], [ %114, %128 ]
  %133 = phi i64 [ %106, %110 ], [ %129, %128 ]
  br label %134

134:                                              ; preds = %131, %134
  %135 = phi i64 [ %140, %134 ], [ %132, %131 ]
  %136 = phi i64 [ %139, %134 ], [ %133, %131 ]
  %137 = getelementptr inbounds %struct.plan_tensor, ptr %103, i64 0, i32 8, i64 %135
  %138 = load i64, ptr %137, align 8
  %139 = mul nsw i64 %138, %136
  %140 = add nuw nsw i64 %135, 1
  %141 = icmp eq i64 %140, %111
  br i1 %141, label %142, label %134, !llvm.loop !43

142:                                              ; preds = %134, %128, %100
  %143 = phi i64 [ %106, %100 ], [ %129, %128 ], [ %139, %134 ]
  %144 = add nsw i64 %143, 63
  %145 = sdiv i64 %144, 64
  %146 = shl nsw i64 %145, 6
  %147 = add nsw i64 %146, %102
  %148 = add nuw nsw i64 %101, 1
  %149 = icmp eq i64 %148, %49
  br i1 %149, label %150, label %100, !llvm.loop !39

150:                                              ; preds = %142, %45
  %151 = phi i64 [ %46, %45 ], [ %147, %142 ]
  %152 = getelementptr inbounds i8, ptr %5, i64 %151
  %153 = getelementptr inbounds %struct.plan_code, ptr %15, i64 0, i32 11
  %154 = load i32, ptr %153, align 8
  %155 = zext i32 %154 to i64
  %156 = getelementptr inbounds i8, ptr @model_plan, i64 %155
  call void @llvm.lifetime.start.p0(i64 80, ptr nonnull %3) #15
  store ptr %15, ptr %3, align 8
  %157 = getelementptr inbounds %struct.run, ptr %3, i64 0, i32 1
  %158 = getelementptr inbounds %struct.run, ptr %3, i64 0, i32 2
  %159 = getelementptr inbounds %struct.run, ptr %3, i64 0, i32 3
  store <2 x ptr> zeroinitializer, ptr %159, align 8
  %160 = getelementptr inbounds %struct.run, ptr %3, i64 0, i32 5
  store <2 x ptr> zeroinitializer, ptr %160, align 8
  %161 = getelementptr inbounds %struct.run, ptr %3, i64 0, i32 7
  store ptr null, ptr %161, align 8
  %162 = getelementptr inbounds %struct.run, ptr %3, i64 0, i32 8
  store ptr %156, ptr %162, align 8
  %163 = getelementptr inbounds %struct.run, ptr %3, i64 0, i32 9
  %164 = zext i32 %26 to i64
  %165 = getelementptr inbounds %struct.plan_golden, ptr %156, i64 %164
  store ptr %165, ptr %163, align 8
  %166 = icmp eq i32 %37, 0
  br i1 %166, label %167, label %169

167:                                              ; preds = %150
  %168 = zext i32 %35 to i64
  br label %350

169:                                              ; preds = %150
  %170 = getelementptr inbounds i8, ptr %5, i64 %41
  %171 = zext i32 %35 to i64
  br label %172

172:                                              ; preds = %342, %169
  %173 = phi i64 [ 0, %169 ], [ %348, %342 ]
  %174 = phi ptr [ %170, %169 ], [ %347, %342 ]
  %175 = icmp ult i64 %173, %171
  %176 = getelementptr inbounds %struct.plan_tensor, ptr %31, i64 %173
  %177 = trunc i64 %173 to i32
  %178 = sub i32 %177, %35
  %179 = zext i32 %178 to i64
  %180 = getelementptr inbounds %struct.plan_tensor, ptr %34, i64 %179
  %181 = select i1 %175, ptr %176, ptr %180
  %182 = getelementptr inbounds %struct.plan_tensor, ptr %181, i64 0, i32 4
  %183 = load i32, ptr %182, align 8
  %184 = zext i32 %183 to i64
  %185 = getelementptr inbounds %struct.plan_tensor, ptr %181, i64 0, i32 2
  %186 = load i32, ptr %185, align 8
  %187 = icmp eq i32 %186, 0
  br i1 %187, label %224, label %188

188:                                              ; preds = %172
  %189 = zext i32 %186 to i64
  %190 = icmp eq i32 %186, 1
  br i1 %190, label %209, label %191

191:                                              ; preds = %188
  %192 = and i64 %189, 4294967294
  br label %193

193:                                              ; preds = %193, %191
  %194 = phi i64 [ 0, %191 ], [ %204, %193 ]
  %195 = phi i64 [ %184, %191 ], [ %202, %193 ]
  %196 = phi i64 [ 1, %191 ], [ %203, %193 ]
  %197 = or i64 %194, 1
  %198 = getelementptr inbounds %struct.plan_tensor, ptr %181, i64 0, i32 8, i64 %194
  %199 = getelementptr inbounds %struct.plan_tensor, ptr %181, i64 0, i32 8, i64 %197
  %200 = load i64, ptr %198, align 8
  %201 = load i64, ptr %199, align 8
  %202 = mul i64 %200, %195
  %203 = mul i64 %201, %196
  %204 = add nuw i64 %194, 2
  %205 = icmp eq i64 %204, %192
  br i1 %205, label %206, label %193, !llvm.loop !44

206:                                              ; preds = %193
  %207 = mul i64 %203, %202
  %208 = icmp eq i64 %192, %189
  br i1 %208, label %220, label %209

209:                                              ; preds = %188, %206
  %210 = phi i64 [ 0, %188 ], [ %192, %206 ]
  %211 = phi i64 [ %184, %188 ], [ %207, %206 ]
  br label %212

212:                                              ; preds = %209, %212
  %213 = phi i64 [ %218, %212 ], [ %210, %209 ]
  %214 = phi i64 [ %217, %212 ], [ %211, %209 ]
  %215 = getelementptr inbounds %struct.plan_tensor, ptr %181, i64 0, i32 8, i64 %213
  %216 = load i64, ptr %215, align 8
  %217 = mul nsw i64 %216, %214
  %218 = add nuw nsw i64 %213, 1
  %219 = icmp eq i64 %218, %189
  br i1 %219, label %220, label %212, !llvm.loop !45

220:                                              ; preds = %212, %206
  %221 = phi i64 [ %207, %206 ], [ %217, %212 ]
  %222 = getelementptr inbounds %struct.model_buffer, ptr %5, i64 %173
  store ptr %174, ptr %222, align 8
  %223 = getelementptr inbounds i8, ptr %222, i64 8
  store i64 %221, ptr %223, align 8
  br i1 %175, label %230, label %342

224:                                              ; preds = %172
  %225 = getelementptr inbounds %struct.model_buffer, ptr %5, i64 %173
  store ptr %174, ptr %225, align 8
  %226 = getelementptr inbounds i8, ptr %225, i64 8
  store i64 %184, ptr %226, align 8
  br i1 %175, label %227, label %342

227:                                              ; preds = %224
  %228 = getelementptr inbounds %struct.plan_tensor, ptr %181, i64 0, i32 1
  %229 = load i32, ptr %228, align 4
  br label %263

230:                                              ; preds = %220
  %231 = getelementptr inbounds %struct.plan_tensor, ptr %181, i64 0, i32 1
  %232 = load i32, ptr %231, align 4
  %233 = icmp ult i32 %186, 2
  br i1 %233, label %252, label %234

234:                                              ; preds = %230
  %235 = and i64 %189, 4294967294
  br label %236

236:                                              ; preds = %236, %234
  %237 = phi i64 [ 0, %234 ], [ %247, %236 ]
  %238 = phi i64 [ %184, %234 ], [ %245, %236 ]
  %239 = phi i64 [ 1, %234 ], [ %246, %236 ]
  %240 = or i64 %237, 1
  %241 = getelementptr inbounds %struct.plan_tensor, ptr %181, i64 0, i32 8, i64 %237
  %242 = getelementptr inbounds %struct.plan_tensor, ptr %181, i64 0, i32 8, i64 %240
  %243 = load i64, ptr %241, align 8
  %244 = load i64, ptr %242, align 8
  %245 = mul i64 %243, %238
  %246 = mul i64 %244, %239
  %247 = add nuw i64 %237, 2
  %248 = icmp eq i64 %247, %235
  br i1 %248, label %249, label %236, !llvm.loop !46

249:                                              ; preds = %236
  %250 = mul i64 %246, %245
  %251 = icmp eq i64 %235, %189
  br i1 %251, label %263, label %252

252:                                              ; preds = %230, %249
  %253 = phi i64 [ 0, %230 ], [ %235, %249 ]
  %254 = phi i64 [ %184, %230 ], [ %250, %249 ]
  br label %255

255:                                              ; preds = %252, %255
  %256 = phi i64 [ %261, %255 ], [ %253, %252 ]
  %257 = phi i64 [ %260, %255 ], [ %254, %252 ]
  %258 = getelementptr inbounds %struct.plan_tensor, ptr %181, i64 0, i32 8, i64 %256
  %259 = load i64, ptr %258, align 8
  %260 = mul nsw i64 %259, %257
  %261 = add nuw nsw i64 %256, 1
  %262 = icmp eq i64 %261, %189
  br i1 %262, label %263, label %255, !llvm.loop !47

263:                                              ; preds = %255, %249, %227
  %264 = phi i32 [ %229, %227 ], [ %232, %249 ], [ %232, %255 ]
  %265 = phi i64 [ %184, %227 ], [ %221, %249 ], [ %221, %255 ]
  %266 = phi i64 [ %184, %227 ], [ %250, %249 ], [ %260, %255 ]
  %267 = zext i32 %264 to i64
  %268 = getelementptr inbounds i8, ptr @model_plan, i64 %267
  %269 = sdiv i64 %266, %184
  %270 = getelementptr inbounds %struct.plan_tensor, ptr %181, i64 0, i32 6
  %271 = load double, ptr %270, align 8
  %272 = fcmp une double %271, 0.000000e+00
  %273 = select i1 %272, double %271, double 1.562500e-02
  %274 = icmp sgt i64 %269, 0
  br i1 %274, label %275, label %342

275:                                              ; preds = %263
  %276 = shl nuw i64 %173, 32
  %277 = load i8, ptr %268, align 1
  %278 = icmp eq i8 %277, 0
  br label %279

279:                                              ; preds = %339, %275
  %280 = phi i64 [ 0, %275 ], [ %340, %339 ]
  %281 = add i64 %280, %276
  %282 = mul i64 %281, -7046029254386353131
  %283 = add i64 %282, -7046029254386353131
  %284 = lshr i64 %283, 29
  %285 = xor i64 %284, %283
  %286 = mul i64 %285, -4658895280553007687
  %287 = lshr i64 %286, 56
  br i1 %278, label %299, label %288

288:                                              ; preds = %279, %294
  %289 = phi i8 [ %297, %294 ], [ %277, %279 ]
  %290 = phi ptr [ %296, %294 ], [ @.str.16, %279 ]
  %291 = phi ptr [ %295, %294 ], [ %268, %279 ]
  %292 = load i8, ptr %290, align 1
  %293 = icmp eq i8 %289, %292
  br i1 %293, label %294, label %299

294:                                              ; preds = %288
  %295 = getelementptr inbounds i8, ptr %291, i64 1
  %296 = getelementptr inbounds i8, ptr %290, i64 1
  %297 = load i8, ptr %295, align 1
  %298 = icmp eq i8 %297, 0
  br i1 %298, label %299, label %288, !llvm.loop !6

299:                                              ; preds = %294, %288, %279
  %300 = phi ptr [ @.str.16, %279 ], [ %290, %288 ], [ %296, %294 ]
  %301 = phi i8 [ 0, %279 ], [ %289, %288 ], [ 0, %294 ]
  %302 = load i8, ptr %300, align 1
  %303 = icmp eq i8 %301, %302
  br i1 %303, label %304, label %310

304:                                              ; preds = %299
  %305 = uitofp i64 %287 to double
  %306 = fadd double %305, -1.280000e+02
  %307 = fmul double %273, %306
  %308 = fptrunc double %307 to float
  %309 = getelementptr inbounds float, ptr %174, i64 %280
  store float %308, ptr %309, align 4
  br label %339

310:                                              ; preds = %299
  switch i32 %183, label %339 [
    i32 8, label %311
    i32 4, label %314
    i32 1, label %318
  ]

311:                                              ; preds = %310
  %312 = and i64 %287, 1
  %313 = getelementptr inbounds i64, ptr %174, i64 %280
  store i64 %312, ptr %313, align 8
  br label %339

314:                                              ; preds = %310
  %315 = trunc i64 %287 to i32
  %316 = and i32 %315, 1
  %317 = getelementptr inbounds i32, ptr %174, i64 %280
  store i32 %316, ptr %317, align 4
  br label %339

318:                                              ; preds = %310
  br i1 %278, label %330, label %319

319:                                              ; preds = %318, %325
  %320 = phi i8 [ %328, %325 ], [ %277, %318 ]
  %321 = phi ptr [ %327, %325 ], [ @.str.17, %318 ]
  %322 = phi ptr [ %326, %325 ], [ %268, %318 ]
  %323 = load i8, ptr %321, align 1
  %324 = icmp eq i8 %320, %323
  br i1 %324, label %325, label %330

325:                                              ; preds = %319
  %326 = getelementptr inbounds i8, ptr %322, i64 1
  %327 = getelementptr inbounds i8, ptr %321, i64 1
  %328 = load i8, ptr %326, align 1
  %329 = icmp eq i8 %328, 0
  br i1 %329, label %330, label %319, !llvm.loop !6

330:                                              ; preds = %325, %319, %318
  %331 = phi ptr [ @.str.17, %318 ], [ %321, %319 ], [ %327, %325 ]
  %332 = phi i8 [ 0, %318 ], [ %320, %319 ], [ 0, %325 ]
  %333 = load i8, ptr %331, align 1
  %334 = icmp eq i8 %332, %333
  %335 = and i64 %287, 1
  %336 = select i1 %334, i64 %335, i64 %287
  %337 = trunc i64 %336 to i8
  %338 = getelementptr inbounds i8, ptr %174, i64 %280
  store i8 %337, ptr %338, align 1
  br label %339

339:                                              ; preds = %330, %314, %311, %310, %304
  %340 = add nuw nsw i64 %280, 1
  %341 = icmp eq i64 %340, %269
  br i1 %341, label %342, label %279, !llvm.loop !48

342:                                              ; preds = %339, %263, %224, %220
  %343 = phi i64 [ %184, %224 ], [ %221, %220 ], [ %265, %263 ], [ %265, %339 ]
  %344 = add nsw i64 %343, 63
  %345 = sdiv i64 %344, 64
  %346 = shl nsw i64 %345, 6
  %347 = getelementptr inbounds i8, ptr %174, i64 %346
  %348 = add nuw nsw i64 %173, 1
  %349 = icmp eq i64 %348, %38
  br i1 %349, label %350, label %172, !llvm.loop !49

350:                                              ; preds = %342, %167
  %351 = phi i64 [ %168, %167 ], [ %171, %342 ]
  store ptr %5, ptr %157, align 8
  %352 = getelementptr inbounds %struct.model_buffer, ptr %5, i64 %351
  store ptr %352, ptr %158, align 8
  %353 = call fastcc i32 @run_model(ptr noundef nonnull %3, ptr noundef nonnull %152, ptr noundef null) #17
  %354 = icmp eq ptr %1, null
  br i1 %354, label %373, label %355

355:                                              ; preds = %350
  %356 = load i32, ptr %25, align 4
  %357 = load ptr, ptr %162, align 8
  %358 = ptrtoint ptr %357 to i64
  %359 = ptrtoint ptr %156 to i64
  %360 = sub i64 %358, %359
  %361 = lshr exact i64 %360, 5
  %362 = trunc i64 %361 to i32
  %363 = icmp eq i32 %353, -13
  br i1 %363, label %364, label %369

364:                                              ; preds = %355
  %365 = getelementptr inbounds %struct.plan_golden, ptr %357, i64 0, i32 2
  %366 = load i32, ptr %365, align 8
  %367 = zext i32 %366 to i64
  %368 = getelementptr inbounds i8, ptr @model_plan, i64 %367
  br label %369

369:                                              ; preds = %355, %364
  %370 = phi ptr [ %368, %364 ], [ null, %355 ]
  store i32 %356, ptr %1, align 8
  %371 = getelementptr inbounds i8, ptr %1, i64 4
  store i32 %362, ptr %371, align 4
  %372 = getelementptr inbounds i8, ptr %1, i64 8
  store ptr %370, ptr %372, align 8
  br label %373

373:                                              ; preds = %369, %350
  call void @llvm.lifetime.end.p0(i64 80, ptr nonnull %3) #15
  br label %374

374:                                              ; preds = %24, %21, %18, %16, %2, %373
  %375 = phi i32 [ %353, %373 ], [ -8, %2 ], [ -1, %16 ], [ -3, %18 ], [ -4, %21 ], [ -14, %24 ]
  ret i32 %375
}

declare i64 @getauxval(i64 noundef) local_unnamed_addr #5

declare extern_weak i32 @pthread_join(i64 noundef, ptr noundef) #5

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare nonnull ptr @llvm.threadlocal.address.p0(ptr nonnull) #12

; Function Attrs: nounwind
define internal void @run_task(ptr noundef %0, i32 noundef %1) #0 {
  %3 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %4 = load ptr, ptr %3, align 8
  %5 = load ptr, ptr %0, align 8
  %6 = getelementptr inbounds %struct.context, ptr %5, i64 0, i32 3
  %7 = load ptr, ptr %6, align 8
  %8 = zext i32 %1 to i64
  %9 = getelementptr inbounds %struct.context, ptr %7, i64 %8
  %10 = getelementptr inbounds %struct.context, ptr %5, i64 0, i32 2
  %11 = load ptr, ptr %10, align 8
  %12 = getelementptr inbounds %struct.context, ptr %5, i64 0, i32 4
  %13 = load i64, ptr %12, align 8
  %14 = mul nsw i64 %13, %8
  %15 = getelementptr inbounds i8, ptr %11, i64 %14
  store ptr %15, ptr %9, align 8
  %16 = load ptr, ptr %0, align 8
  %17 = getelementptr inbounds %struct.context, ptr %16, i64 0, i32 4
  %18 = load i64, ptr %17, align 8
  %19 = getelementptr inbounds i8, ptr %15, i64 %18
  %20 = getelementptr inbounds %struct.context, ptr %7, i64 %8, i32 1
  store ptr %19, ptr %20, align 8
  %21 = getelementptr inbounds %struct.context, ptr %7, i64 %8, i32 2
  store ptr null, ptr %21, align 8
  store ptr %9, ptr %3, align 8
  %22 = getelementptr inbounds %struct.loop, ptr %0, i64 0, i32 1
  %23 = load ptr, ptr %22, align 8
  %24 = getelementptr inbounds %struct.loop, ptr %0, i64 0, i32 3
  %25 = getelementptr inbounds %struct.loop, ptr %0, i64 0, i32 2
  %26 = load ptr, ptr %25, align 8
  %27 = tail call i32 %23(i32 noundef %1, ptr noundef nonnull %24, ptr noundef %26) #14
  %28 = icmp eq i32 %27, 0
  br i1 %28, label %31, label %29

29:                                               ; preds = %2
  %30 = getelementptr inbounds %struct.loop, ptr %0, i64 0, i32 4
  store atomic i32 1, ptr %30 monotonic, align 8
  br label %31

31:                                               ; preds = %29, %2
  store ptr %4, ptr %3, align 8
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: read)
declare ptr @llvm.load.relative.i64(ptr, i64) #13

attributes #0 = { nounwind "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #1 = { mustprogress nofree norecurse nosync nounwind willreturn memory(none) "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #2 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #3 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #4 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #5 = { "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #6 = { mustprogress nofree nosync nounwind willreturn memory(readwrite, inaccessiblemem: none) "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #7 = { mustprogress nofree norecurse nounwind willreturn memory(readwrite, inaccessiblemem: none) "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #8 = { nofree norecurse nosync nounwind memory(argmem: write) "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #9 = { mustprogress nofree norecurse nounwind willreturn memory(readwrite, argmem: read, inaccessiblemem: none) "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #10 = { mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: read) "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #11 = { nofree norecurse nounwind memory(readwrite, argmem: read, inaccessiblemem: none) "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #12 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #13 = { nocallback nofree nosync nounwind willreturn memory(argmem: read) }
attributes #14 = { nobuiltin nounwind "no-builtins" }
attributes #15 = { nounwind }
attributes #16 = { nounwind memory(none) }
attributes #17 = { nobuiltin "no-builtins" }

!llvm.module.flags = !{!0, !1, !2}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 8, !"PIC Level", i32 2}
!2 = !{i32 7, !"frame-pointer", i32 1}
!3 = distinct !{!3, !4}
!4 = !{!"llvm.loop.mustprogress"}
!5 = distinct !{!5, !4}
!6 = distinct !{!6, !4}
!7 = !{i64 84654}
!8 = !{i64 83910}
!9 = distinct !{!9, !4}
!10 = !{i64 84069}
!11 = distinct !{!11, !4}
!12 = distinct !{!12, !4}
!13 = distinct !{!13, !4}
!14 = distinct !{!14, !4}
!15 = distinct !{!15, !4}
!16 = distinct !{!16, !4}
!17 = distinct !{!17, !4, !18, !19}
!18 = !{!"llvm.loop.isvectorized", i32 1}
!19 = !{!"llvm.loop.unroll.runtime.disable"}
!20 = distinct !{!20, !4, !18}
!21 = distinct !{!21, !4, !18, !19}
!22 = distinct !{!22, !4, !18}
!23 = distinct !{!23, !4}
!24 = distinct !{!24, !4, !18, !19}
!25 = distinct !{!25, !4, !18}
!26 = distinct !{!26, !4, !18, !19}
!27 = distinct !{!27, !4, !18}
!28 = distinct !{!28, !4}
!29 = distinct !{!29, !4}
!30 = distinct !{!30, !4, !18, !19}
!31 = distinct !{!31, !4, !18}
!32 = distinct !{!32, !4}
!33 = distinct !{!33, !4}
!34 = distinct !{!34, !4, !18, !19}
!35 = distinct !{!35, !4, !18}
!36 = distinct !{!36, !4}
!37 = distinct !{!37, !4, !18, !19}
!38 = distinct !{!38, !4, !18}
!39 = distinct !{!39, !4}
!40 = distinct !{!40, !4, !18, !19}
!41 = distinct !{!41, !4, !18}
!42 = distinct !{!42, !4, !18, !19}
!43 = distinct !{!43, !4, !18}
!44 = distinct !{!44, !4, !18, !19}
!45 = distinct !{!45, !4, !18}
!46 = distinct !{!46, !4, !18, !19}
!47 = distinct !{!47, !4, !18}
!48 = distinct !{!48, !4}
!49 = distinct !{!49, !4}
